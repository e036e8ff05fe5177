package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The oracle itself, on logs written by hand. */
class DurabilityOracleTest {
    private static final String REQUEST =
            "7 read(96<socket:[5]>, \"POST /v1/w\\r\\nIdempotency-Key: k\\r\\n\", 8192) = 40";
    private static final String ANSWER = "7 write(96<socket:[5]>, \"HTTP/1.1 200 OK\\r\\n\", 17) = 17";
    private static final String WAL = "8 pwrite64(86</d/semel.db-wal>, \"abc\", 24, 0) = 24";
    private static final String SYNC = "8 fsync(86</d/semel.db-wal>)  = 0";
    private static final String RECEIVED = "9 recvfrom(11<socket:[6]>, \"B\\0k\\0\", 8192, 0, NULL, NULL) = 4";
    private static final String COMMIT = "9 recvfrom(11<socket:[6]>, \"E\\0\", 8192, 0, NULL, NULL) = 2";
    private static final String FLUSH = "10 fdatasync(3</p/pg_wal/000000010000000000000001>) = 0";
    private static final String COMMITTED =
            "9 sendto(11<socket:[6]>, \"C\\0\\0\\0\\vCOMMIT\\0Z\", 17, 0, NULL, 0) = 17";
    private static final String HEARD = "7 read(97<socket:[9]>, \"C\\0\\0\\0\\vCOMMIT\\0Z\", 8192) = 17";

    @Test
    void a_sync_between_the_write_and_the_response_is_durable() {
        assertEquals(List.of(), sqlite(REQUEST, WAL, SYNC, ANSWER));
    }

    @Test
    void missing_early_and_late_syncs_are_detected() {
        List<String> seen = List.of("k was answered before its sync");
        assertEquals(seen, sqlite(REQUEST, WAL, ANSWER));
        assertEquals(seen, sqlite(WAL, SYNC, REQUEST, ANSWER));
        assertEquals(seen, sqlite(REQUEST, SYNC, WAL, ANSWER));
        assertEquals(seen, sqlite(REQUEST, WAL, ANSWER, SYNC));
        assertEquals(seen, sqlite(REQUEST, WAL, "8 fsync(86</d/semel.db-wal>)  = -1 EIO (Input/output error)", ANSWER));
    }

    @Test
    void a_sync_still_running_during_the_response_is_detected() {
        String entered = "8 fsync(86</d/semel.db-wal> <unfinished ...>";
        String returned = "8 <... fsync resumed>)           = 0";
        assertEquals(List.of(), sqlite(REQUEST, WAL, entered, returned, ANSWER));
        assertEquals(List.of("k was answered before its sync"), sqlite(REQUEST, WAL, entered, ANSWER, returned));
    }

    @Test
    void another_process_may_sync_for_the_backend() {
        assertEquals(List.of(), postgres(REQUEST, RECEIVED, COMMIT, FLUSH, COMMITTED, HEARD, ANSWER));
    }

    @Test
    void a_commit_without_its_own_sync_is_detected() {
        List<String> seen = List.of("k was committed without a sync");
        assertEquals(seen, postgres(REQUEST, RECEIVED, COMMIT, COMMITTED, HEARD, ANSWER));
        assertEquals(seen, postgres(REQUEST, RECEIVED, FLUSH, COMMIT, COMMITTED, HEARD, ANSWER));
        assertEquals(seen, postgres(REQUEST, RECEIVED, COMMIT, COMMITTED, FLUSH, HEARD, ANSWER));
    }

    @Test
    void a_server_that_responds_before_the_commit_is_detected() {
        assertEquals(
                List.of("k was answered before COMMIT was"),
                postgres(REQUEST, RECEIVED, COMMIT, FLUSH, COMMITTED, ANSWER, HEARD));
    }

    @Test
    void a_log_without_the_request_proves_nothing() {
        assertThrows(AssertionError.class, () -> sqlite(WAL, SYNC, ANSWER));
        assertThrows(AssertionError.class, () -> postgres(REQUEST, FLUSH, COMMITTED, HEARD, ANSWER));
    }

    private static List<String> sqlite(String... lines) {
        return new DurabilityOracle(Syscall.parse(List.of(lines))).sqlite(List.of("k"));
    }

    private static List<String> postgres(String... lines) {
        return new DurabilityOracle(Syscall.parse(List.of(lines))).postgres(List.of("k"));
    }
}
