package dev.semel.trials.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.bench.HeldSnapshotBench.Change;
import dev.semel.trials.bench.HeldSnapshotBench.LoadKind;
import dev.semel.trials.bench.HeldSnapshotBench.Window;
import dev.semel.trials.support.Databases;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A short form of {@code semel-trials/bench-snapshot}: pages are counted, because rates depend on the machine. */
class HeldSnapshotTest {
    private static final int ROUNDS = 4;
    private static final double MOST_GROWTH = 3;

    /** Tables that are read from the lowest entry, where dead rows gather: docs/performance.md. */
    private static final Set<String> GROWING =
            Set.of("semel_unfinished_run", "semel_queue", "semel_queue_entry", "semel_rate_limit", "semel_debounce");

    private static double otherPages(Window window) {
        return window.blocks().entrySet().stream()
                .filter(table -> !GROWING.contains(table.getKey()))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    @Tag("trial")
    @Test
    void every_run_ends_beside_a_held_snapshot_and_triggers_and_repeats_read_no_more_of_other_tables()
            throws Exception {
        List<Change> changes = HeldSnapshotBench.measure(Databases.fresh(), 2, ROUNDS);
        changes.forEach(change -> System.out.println(change.line()));
        assertEquals(LoadKind.values().length, changes.size());
        for (Change change : changes.subList(LoadKind.DISTINCT.ordinal(), LoadKind.SLEEPING.ordinal())) {
            double growth = otherPages(change.held().getLast())
                    / otherPages(change.held().getFirst());
            assertTrue(growth < MOST_GROWTH, () -> change.line() + ", other tables " + growth);
        }
    }

    @Test
    void the_table_whose_pages_grew_most_is_named() {
        Window first = new Window(200, Map.of("a", 10.0, "b", 1.0));
        Window last = new Window(100, Map.of("a", 12.0, "b", 10.0));
        Change change = new Change(LoadKind.SLEEPING, first, List.of(first, last), first);
        assertEquals(0.5, change.rateRatio());
        assertEquals(2, change.blockRatio());
        assertEquals(
                "sleeping  last window: rate 0.50 of the first window and 0.50 of the window after the snapshot, pages"
                    + " per request 2.00 of the first (b from 1.00 to 10.00); requests per second 200 | 200 100 | 200;"
                    + " pages per request 11 | 11 22 | 11",
                change.line());
    }
}
