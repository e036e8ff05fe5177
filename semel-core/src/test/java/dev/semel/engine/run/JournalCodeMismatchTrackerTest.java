package dev.semel.engine.run;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import org.junit.jupiter.api.Test;

final class JournalCodeMismatchTrackerTest {
    private final RunId one = new RunId(1, 1);
    private final RunId two = new RunId(1, 2);

    @Test
    void an_incompatible_run_is_tried_once_per_registered_code() {
        JournalCodeMismatchTracker incompatibleRuns = new JournalCodeMismatchTracker();
        assertFalse(incompatibleRuns.contains(one));
        incompatibleRuns.add(one, "wf_a");
        incompatibleRuns.add(two, "wf_b");
        assertTrue(incompatibleRuns.contains(one));
        incompatibleRuns.forget("wf_a");
        assertFalse(incompatibleRuns.contains(one));
        assertTrue(incompatibleRuns.contains(two));
    }
}
