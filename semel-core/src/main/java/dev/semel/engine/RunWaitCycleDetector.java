package dev.semel.engine;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Rejects calls and starts of child runs that would make a run wait for itself, directly or through its callers. */
final class RunWaitCycleDetector {
    /** Bound on the number of callers that are checked. Nested calls that wait do not get this deep. */
    private static final int DEEPEST = 1_000;

    private RunWaitCycleDetector() {}

    /** Also rejects with free slots: once as many parents as slots wait for children, none of them ever ends. */
    static void rejectQueueCycle(StoreQueryThreadPool readers, NewRun child, String workflow) {
        RunId parent = child.links().parent();
        NewRun.StartConditions conditions = child.startConditions();
        if (parent == null || conditions == null || conditions.queueLimits().isEmpty()) {
            return;
        }
        List<String> wanted = conditions.queueLimits().stream()
                .map(NewRun.StartConditions.QueueLimit::queue)
                .toList();
        String holder = readers.readNullable(reads ->
                find(reads, parent, run -> reads.queuesOf(run.id()).stream().anyMatch(wanted::contains)));
        if (holder != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "A new run of workflow \"" + workflow + "\" would wait for run " + holder
                            + " to end (serialBy or maxConcurrent), but run " + holder
                            + " waits for the new run. No run was started.",
                    "Call a workflow without this limit or with another serialBy key, or start the workflow without"
                            + " waiting for it.");
        }
    }

    /** A cycle in YAML never ends. Publishing rejects it, but two concurrent publishes or a rollback can create one. */
    static void rejectCallCycle(
            InMemoryRunExecutionState execution, DurableWorkflowOperations.ChildWorkflowCall child) {
        RunExecutor.ActiveRun caller = execution.run();
        String called = execution.engine().childStarter().workflowId(caller, child);
        boolean own = caller.workflow().workflowId().equals(called);
        RunId parent = caller.parent();
        String above = own || parent == null
                ? null
                : execution.readNullable(
                        reads -> find(reads, parent, run -> run.workflowId().equals(called)));
        if (own || above != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "Run " + caller.runId() + " called workflow \"" + child.workflow() + "\", but run "
                            + (own ? caller.runId() : above)
                            + " of that workflow waits for the caller: the calls form a cycle. No run was started.",
                    "Remove one of the calls from the cycle and publish that workflow again.");
        }
    }

    /** Returns the run that a call found by key or id. Rejects a run that waits for the call itself. */
    static RunId rejectSelfWait(InMemoryRunExecutionState execution, RunId called) {
        RunId caller = execution.run().id();
        String waits = execution.readNullable(
                reads -> find(reads, caller, run -> run.id().equals(called)));
        if (waits != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "The key of this call belongs to run " + waits + ", which waits for this call. No run was started.",
                    "Call the workflow with a different key or without a key.");
        }
        return called;
    }

    /** Returns the public id of the first matching run, from this run upwards; null if none matches. */
    private static @Nullable String find(StoreQueries reads, RunId first, Predicate<DatabaseRows.RunRow> fits) {
        RunId next = first;
        for (int depth = 0; next != null && depth < DEEPEST; depth++) {
            DatabaseRows.RunRow run = reads.claimedRun(next);
            if (run != null && fits.test(run)) {
                return run.runIdText();
            }
            next = run == null ? null : run.parent();
        }
        return null;
    }
}
