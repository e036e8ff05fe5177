package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.NewRun;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.workflow.Durable;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The runs that wait for a run: the one that called it, the one that called that, and so on. A run must never wait for
 * one of them, since nothing would ever end that wait.
 */
final class Ancestry {
    /** No code calls itself that deep and waits; above it nobody is asked. */
    private static final int DEEPEST = 1_000;

    private Ancestry() {}

    /**
     * Refuses a child that wants a place in a queue in which somebody who waits for it has one. Also where the queue is
     * wide and has room: whether it has is chance, and as soon as as many parents as there are places wait for their
     * children, none of them ever ends.
     */
    static void refuseOwnQueue(Readers readers, NewRun child, String workflow) {
        RunId parent = child.links().parent();
        NewRun.Gate gate = child.gate();
        if (parent == null || gate == null || gate.places().isEmpty()) {
            return;
        }
        List<String> wanted =
                gate.places().stream().map(NewRun.Gate.Place::queue).toList();
        String holder = readers.maybe(reads ->
                find(reads, parent, run -> reads.queues(run.id()).stream().anyMatch(wanted::contains)));
        if (holder != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "A run of workflow \"" + workflow + "\" would wait for the place of run " + holder
                            + " (serialBy or maxConcurrent), which waits for it in turn. No run was started.",
                    "Call a workflow without that gate, or for another entity; or start it without waiting for it.");
        }
    }

    /**
     * Refuses a call of a workflow of which a run waits for the caller, or that is the caller's own: in files, which cannot
     * count, such a circle has no end. A file that closes one does not publish, but of two that are published at once
     * neither has seen the other, and going back to an older version closes what it closes.
     */
    static void refuseCircle(Execution execution, Durable.Child child) {
        RunLoop.Resident caller = execution.run();
        String called = execution.engine().starter().workflowId(caller, child);
        boolean own = caller.workflow().workflowId().equals(called);
        RunId parent = caller.parent();
        String above = own || parent == null
                ? null
                : execution.maybe(
                        reads -> find(reads, parent, run -> run.workflowId().equals(called)));
        if (own || above != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "Workflow \"" + child.workflow() + "\" was called by run " + caller.runId() + ", for which run "
                            + (own ? caller.runId() : above)
                            + " of the same workflow waits: they call each other in a circle. No run was started.",
                    "Take one of the calls out of the circle and publish that workflow again.");
        }
    }

    /** The run that a call found under its key or id, unless it waits for that call itself. */
    static RunId apart(Execution execution, RunId called) {
        RunId caller = execution.run().id();
        String waits =
                execution.maybe(reads -> find(reads, caller, run -> run.id().equals(called)));
        if (waits != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "The call found run " + waits + " under its key, which waits for this call itself. No run was "
                            + "started.",
                    "Call it under a key of its own, or without one.");
        }
        return called;
    }

    /** What callers see of the first one, from this run upwards, that fits. */
    private static @Nullable String find(Reads reads, RunId first, Predicate<Rows.Run> fits) {
        RunId next = first;
        for (int depth = 0; next != null && depth < DEEPEST; depth++) {
            Rows.Run run = reads.claimed(next);
            if (run != null && fits.test(run)) {
                return run.runIdText();
            }
            next = run == null ? null : run.parent();
        }
        return null;
    }
}
