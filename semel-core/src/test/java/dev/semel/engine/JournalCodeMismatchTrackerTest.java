package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import org.junit.jupiter.api.Test;

final class JournalCodeMismatchTrackerTest {
    private final RunId one = new RunId(1, 1);
    private final RunId two = new RunId(1, 2);

    @Test
    void an_incompatible_run_is_tried_once_per_registered_code() {
        JournalCodeMismatchTracker misfits = new JournalCodeMismatchTracker();
        assertFalse(misfits.contains(one));
        misfits.add(one, "wf_a");
        misfits.add(two, "wf_b");
        assertTrue(misfits.contains(one));
        misfits.forget("wf_a");
        assertFalse(misfits.contains(one));
        assertTrue(misfits.contains(two));
    }
}
