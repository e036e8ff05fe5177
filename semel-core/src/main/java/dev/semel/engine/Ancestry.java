package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.NewRun;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
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
