package dev.semel.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.SqliteStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.store.WorkerLeases;
import dev.semel.store.WorkflowStore;
import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a worker says of its clock and of its store: once, when it changes. */
final class StoreHealthMonitorTest {
    private static final WorkflowStore.Durability SAFE = new WorkflowStore.Durability(true, "fsync=on");
    private static final WorkflowStore.Durability UNSAFE = new WorkflowStore.Durability(false, "fsync=off");
    private static final long HOUR = 3_600_000_000L;

    private final Logger logger = Logger.getLogger(StoreHealthMonitor.class.getName());
    private final List<String> said = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            Object[] values = entry.getParameters();
            String text = values == null ? entry.getMessage() : MessageFormat.format(entry.getMessage(), values);
            said.add(entry.getLevel() + " " + text);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    private final StoreFixture fixture = new SqliteStoreFixture();
    private final WorkflowStore store = fixture.store();
    private final StoreHealthMonitor monitor = new StoreHealthMonitor(store);

    @BeforeEach
    void listen() {
        logger.addHandler(handler);
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(0, SAFE, null));
        said.clear();
    }

    @AfterEach
    void leave() {
        logger.removeHandler(handler);
        store.close();
        fixture.close();
    }

    @Test
    void a_wrong_clock_is_logged_once_with_the_difference_and_once_when_corrected() {
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(HOUR, SAFE, null));
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(HOUR + 1, SAFE, null));
        assertEquals(1, said.size());
        assertTrue(
                said.getFirst().startsWith("WARNING the clock of this machine is 3600 s ahead of the store clock."),
                said::toString);
        assertTrue(said.getFirst().contains("Synchronize this machine with a time server"), said::toString);
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(-3, SAFE, null));
        assertEquals("INFO the clock of this machine agrees with the store clock again", said.getLast());
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(-HOUR, SAFE, null));
        assertTrue(said.getLast().contains("3600 s behind the store clock"), said::toString);
        assertEquals(3, said.size());
    }

    @Test
    void a_store_that_becomes_unsafe_is_logged_once_and_so_is_its_recovery() {
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(0, UNSAFE, null));
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(0, UNSAFE, null));
        assertEquals(UNSAFE, monitor.durability());
        assertEquals(1, said.size());
        assertTrue(said.getFirst().startsWith("SEVERE the store has become UNSAFE: fsync=off."), said::toString);
        monitor.recordHeartbeat(new WorkerLeases.StoreStatus(0, SAFE, null));
        assertEquals("INFO the durability of the store has changed: fsync=on", said.getLast());
    }
}
