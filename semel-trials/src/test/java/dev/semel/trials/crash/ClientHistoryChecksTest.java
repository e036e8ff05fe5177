package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The verdict itself: every broken promise it must see, on histories written by hand. */
class ClientHistoryChecksTest {
    private static final int COMPLETED = 10;
    private static final int FAILED = 11;

    private final ClientLedger ledger = new ClientLedger();

    @Test
    void a_correct_history_has_no_violations() {
        reported("a", "run_1", false);
        unknown("a");
        reported("a", "run_1", true);
        refused("b", 503);
        assertEquals(List.of(), of(row("run_1", "a", 1)));
    }

    @Test
    void a_lost_acknowledged_run_is_detected() {
        reported("a", "run_1", false);
        assertSees("lost");
    }

    @Test
    void a_response_with_the_run_of_another_key_is_detected() {
        reported("a", "run_1", false);
        assertSees("another key", row("run_1", "b", 0));
    }

    @Test
    void two_runs_of_a_key_are_detected_in_responses_and_in_the_store() {
        reported("a", "run_1", false);
        reported("a", "run_2", true);
        assertSees("several runs", row("run_1", "a", 1), row("run_2", "a", 0));
        assertSees("has 2 runs", row("run_1", "a", 1), row("run_2", "a", 0));
    }

    @Test
    void a_key_that_is_fresh_twice_is_detected() {
        reported("a", "run_1", false);
        reported("a", "run_1", false);
        assertSees("called new 2 times", row("run_1", "a", 0));
    }

    @Test
    void an_unrequested_run_is_detected() {
        assertSees("nobody ever sent it", row("run_1", "a", 0));
    }

    @Test
    void an_unfinished_failed_duplicated_or_missing_run_is_detected() {
        reported("a", "run_1", false);
        assertSees("did not complete", new StoredRuns.Row("run_1", "a", 1, 1, 0, 0, 0, 0));
        assertSees("did not complete", new StoredRuns.Row("run_1", "a", 1, 0, 1, FAILED, 0, 0));
        assertSees("1 rows of work and 1 ends", new StoredRuns.Row("run_1", "a", 1, 1, 1, COMPLETED, 0, 0));
        assertSees("0 rows of work and 0 ends", new StoredRuns.Row("run_1", "a", 1, 0, 0, 0, 0, 0));
    }

    @Test
    void a_run_that_lost_its_key_is_detected() {
        reported("a", "run_1", false);
        assertSees("0 rows for its key", new StoredRuns.Row("run_1", "a", 0, 0, 1, COMPLETED, 0, 0));
    }

    @Test
    void duplicates_counted_twice_or_not_at_all_are_detected() {
        reported("a", "run_1", false);
        reported("a", "run_1", true);
        assertSees("counts 0 replays; there were 1 to 1", row("run_1", "a", 0));
        assertSees("counts 2 replays; there were 1 to 1", row("run_1", "a", 2));
        assertSees("has rows for 2", new StoredRuns.Row("run_1", "a", 1, 0, 1, COMPLETED, 1, 2));
    }

    @Test
    void after_a_kill_earlier_duplicate_counts_may_be_missing_and_later_ones_not() {
        reported("a", "run_1", false);
        reported("a", "run_1", true);
        ledger.killed();
        assertEquals(List.of(), of(row("run_1", "a", 0)));
        reported("a", "run_1", true);
        assertSees("there were 1 to 2", row("run_1", "a", 0));
    }

    @Test
    void a_response_that_forbids_a_retry_is_detected() {
        reported("a", "run_1", false);
        refused("a", 422);
        assertSees("answered 422", row("run_1", "a", 0));
    }

    @Test
    void a_damaged_file_is_detected() {
        StoredRuns damaged = new StoredRuns(List.of(), "row 3 missing from index");
        assertThrows(AssertionError.class, () -> ClientHistoryChecks.holds(ledger, damaged));
    }

    @Test
    void ids_are_formatted_as_by_the_server() {
        byte[] largest = new byte[16];
        java.util.Arrays.fill(largest, (byte) 0xff);
        assertEquals("run_7n42DGM5Tflk9n8mt7Fhc7", StoredRuns.runId(largest));
        assertEquals("run_0000000000000000000000", StoredRuns.runId(new byte[16]));
    }

    private void reported(String key, String run, boolean replayed) {
        Map<String, String> headers = replayed ? Map.of("x-idempotent-replayed", "true") : Map.of();
        String body = "{\"run_id\":\"" + run + "\",\"idempotent_replayed\":" + replayed + "}";
        ledger.record(key, () -> new Reply(200, headers, body));
    }

    private void refused(String key, int status) {
        ledger.record(key, () -> new Reply(status, Map.of(), "{}"));
    }

    private void unknown(String key) {
        ledger.record(key, () -> {
            throw new IOException("cut");
        });
    }

    private static StoredRuns.Row row(String run, String key, long replays) {
        return new StoredRuns.Row(run, key, 1, 0, 1, COMPLETED, replays, replays);
    }

    private List<String> of(StoredRuns.Row... rows) {
        return ClientHistoryChecks.of(ledger, new StoredRuns(List.of(rows), "ok"));
    }

    private void assertSees(String violation, StoredRuns.Row... rows) {
        List<String> seen = of(rows);
        assertTrue(seen.stream().anyMatch(text -> text.contains(violation)), () -> "not seen in " + seen);
    }
}
