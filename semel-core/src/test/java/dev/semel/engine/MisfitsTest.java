package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import org.junit.jupiter.api.Test;

final class MisfitsTest {
    private final RunId one = new RunId(1, 1);
    private final RunId two = new RunId(1, 2);

    @Test
    void a_run_is_tried_once_until_other_code_of_its_workflow_comes() {
        Misfits misfits = new Misfits();
        assertFalse(misfits.has(one));
        misfits.add(one, "wf_a");
        misfits.add(two, "wf_b");
        assertTrue(misfits.has(one));
        misfits.forget("wf_a");
        assertFalse(misfits.has(one));
        assertTrue(misfits.has(two));
    }
}
