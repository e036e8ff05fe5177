package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.definition.DurableOperations;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Rejects calls and starts of child runs that would make a run wait for itself, directly or through its callers. */
final class WaitCycleCheck {
    /** Bound on the number of callers that are checked. Nested calls that wait do not get this deep. */
    private static final int DEEPEST = 1_000;

    private WaitCycleCheck() {}

    /**
     * Rejects a child that needs a queue slot which one of its waiting callers holds.
     * This also applies if the queue has free slots: once as many parents as slots wait for children, none of them ever
     * ends.
     */
    static void rejectQueueCycle(StoreReadPool readers, NewRun child, String workflow) {
        RunId parent = child.links().parent();
        NewRun.StartConditions gate = child.startConditions();
        if (parent == null || gate == null || gate.queueLimits().isEmpty()) {
            return;
        }
        List<String> wanted =
                gate.queueLimits().stream().map(NewRun.StartConditions.QueueLimit::queue).toList();
        String holder = readers.readNullable(reads ->
                find(reads, parent, run -> reads.queuesOf(run.id()).stream().anyMatch(wanted::contains)));
        if (holder != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "A run of workflow \"" + workflow + "\" would wait for the queue slot of run " + holder
                            + " (serialBy or maxConcurrent), which waits for that run. No run was started.",
                    "Call a workflow without that limit or for another entity, or start it without waiting for it.");
        }
    }

    /**
     * Rejects a call of the caller's own workflow, or of one that has a run waiting for the caller.
     * In YAML workflows, which cannot count, such a cycle never ends. Publishing rejects a cycle, but two concurrent
     * publishes or a rollback can still create one.
     */
    static void rejectCallCycle(Execution execution, DurableOperations.ChildWorkflowCall child) {
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
    static RunId rejectSelfWait(Execution execution, RunId called) {
        RunId caller = execution.run().id();
        String waits =
                execution.readNullable(reads -> find(reads, caller, run -> run.id().equals(called)));
        if (waits != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "The key of this call belongs to run " + waits + ", which waits for this call. No run was started.",
                    "Call it with a different key, or without one.");
        }
        return called;
    }

    /** Returns the public id of the first matching run, from this run upwards; null if none matches. */
    private static @Nullable String find(StoreQueries reads, RunId first, Predicate<StoredRows.RunRow> fits) {
        RunId next = first;
        for (int depth = 0; next != null && depth < DEEPEST; depth++) {
            StoredRows.RunRow run = reads.claimedRun(next);
            if (run != null && fits.test(run)) {
                return run.runIdText();
            }
            next = run == null ? null : run.parent();
        }
        return null;
    }
}
