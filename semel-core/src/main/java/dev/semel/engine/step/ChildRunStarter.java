package dev.semel.engine.step;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.run.RunId;

/** Starts child runs. The same step always gets the same run. */
public interface ChildRunStarter {
    RunId start(ActiveRun parent, DurableWorkflowOperations.ChildWorkflowCall child, String stepId);

    String workflowId(ActiveRun parent, DurableWorkflowOperations.ChildWorkflowCall child);

    /** Requests the cancellation of a child because its parent is ending. */
    void stop(ActiveRun parent, RunId child);
}
