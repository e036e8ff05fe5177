package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tombstones go when their time has come, and nothing else does. */
interface SweepRules {
    Desk desk();

    private List<Edit.Tombstone> found(long before) {
        return desk().reads.tombstones(null, 1_000, before).found();
    }

    @Test
    default void only_what_expired_before_the_line_is_a_tombstone() {
        Wish key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        long edge = Place.START + Desk.WINDOW;
        assertEquals(List.of(), found(edge));
        assertEquals(List.of(new Edit.Tombstone(key.name(), run, edge)), found(edge + 1));
    }

    @Test
    default void unfinished_and_unending_names_are_no_tombstones() {
        desk().fresh(desk().key("held", Known.HOLD));
        desk().fresh(desk().key("not held", 0));
        desk().apply(desk().end(desk().fresh(desk().chosen("mine"))));
        assertEquals(List.of(), found(Long.MAX_VALUE));
    }

    @Test
    default void a_tombstone_is_deleted_and_its_run_stays() {
        Wish key = desk().key("K");
        RunId run = desk().fresh(key);
        desk().apply(desk().end(run));
        List<Edit.Tombstone> found = found(Long.MAX_VALUE);
        assertEquals(1, desk().change(new Edit.DeleteNames(found)));
        assertEquals(0, desk().change(new Edit.DeleteNames(found)), "once");
        assertNull(desk().holder(key));
        assertNotNull(desk().reads.run(desk().ws, run));
    }

    @Test
    default void a_name_that_was_taken_meanwhile_is_not_deleted() {
        Wish key = desk().key("K");
        desk().apply(desk().end(desk().fresh(key)));
        desk().place.setTime(Place.START + Desk.WINDOW + 1);
        List<Edit.Tombstone> found = found(desk().place.time());
        RunId next = desk().fresh(key);
        assertEquals(0, desk().change(new Edit.DeleteNames(found)));
        Known known = desk().holder(key);
        assertNotNull(known);
        assertEquals(next, known.run());
    }

    @Test
    default void a_sweep_walks_over_all_names_slice_by_slice() {
        List<Name> expired = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            Wish key = desk().key("key " + i);
            RunId run = desk().fresh(key);
            if (i % 2 == 0) {
                desk().apply(desk().end(run));
                expired.add(key.name());
            }
        }
        List<Name> walked = new ArrayList<>();
        @Nullable Name from = null;
        int slices = 0;
        do {
            Reads.Slice slice = desk().reads.tombstones(from, 10, Long.MAX_VALUE);
            slice.found().forEach(tombstone -> walked.add(tombstone.name()));
            from = slice.next();
            slices++;
        } while (from != null);
        assertEquals(3, slices);
        assertEquals(expired.stream().sorted().toList(), walked);
    }
}
