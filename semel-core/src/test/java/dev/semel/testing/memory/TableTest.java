package dev.semel.testing.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.StoreFailure;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

final class TableTest {
    private record Row(int key, int size) {}

    private final Deque<Runnable> undo = new ArrayDeque<>();
    private final Table<Integer, Row> table = new Table<>(undo, row -> row.size() >= 0);
    private final NavigableMap<Pair<Integer, Integer>, Row> bySize =
            table.index(row -> row.size() == 0 ? null : new Pair<>(row.size(), row.key()));

    private void put(int key, int size) {
        table.put(key, new Row(key, size));
    }

    @Test
    void an_index_holds_the_rows_that_have_a_key_in_it_and_no_old_ones() {
        put(1, 5);
        put(2, 0);
        put(3, 2);
        put(1, 1);
        assertEquals("[Row[key=1, size=1], Row[key=3, size=2]]", bySize.values().toString());
        assertTrue(table.remove(3));
        assertFalse(table.remove(3));
        put(1, 0);
        assertTrue(bySize.isEmpty());
        assertFalse(table.add(2, new Row(2, 9)), "what is there stays");
    }

    @Test
    void what_breaks_a_constraint_is_refused_and_nothing_changes() {
        put(1, 5);
        assertThrows(StoreFailure.Poisoned.class, () -> put(1, -1));
        assertEquals("[Row[key=1, size=5]]", bySize.values().toString());
    }

    @Test
    void undoing_brings_rows_and_indexes_back_from_wherever_they_went() {
        var random = RandomGeneratorFactory.of("L64X128MixRandom").create(1);
        for (int round = 0; round < 200; round++) {
            var rows = new TreeMap<>(table.rows());
            var index = new TreeMap<>(bySize);
            boolean keep = random.nextBoolean();
            for (int i = 0; i < 10; i++) {
                int key = random.nextInt(8);
                if (random.nextInt(3) == 0) {
                    table.remove(key);
                } else {
                    put(key, random.nextInt(4));
                }
            }
            if (keep) {
                undo.clear();
            } else {
                while (!undo.isEmpty()) {
                    undo.pop().run();
                }
                assertEquals(rows, table.rows());
                assertEquals(index, bySize);
            }
        }
    }
}
