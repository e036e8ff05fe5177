package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.json.Json;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepPath;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.workflow.Durable;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Starts child runs and waits for them, and sends signals to other runs. The step id makes each happen once. */
public final class Children {
    private static final long LOOK_AGAIN_MICROS = 500_000;
    private static final long LOOK_AGAIN_AT_MOST = 60_000_000;

    private Children() {}

    /** Starts child runs. The same step always gets the same run. */
    public interface Starter {
        RunId start(RunLoop.Resident parent, Durable.Child child, String stepId);

        /** Returns the id of the workflow that the child would run. */
        String workflowId(RunLoop.Resident parent, Durable.Child child);

        /** Requests the cancellation of a child because its parent is ending. */
        void stop(RunLoop.Resident parent, RunId child);
    }

    static JsonNode call(Scope scope, String name, Durable.Child child) {
        Scope.Place place = scope.enter(name, Entry.Kind.CALL);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        Execution execution = scope.execution();
        boolean shared = child.start().key() != null || child.start().id() != null;
        RunId id = findStarted(place);
        if (id == null && !shared && scope.stops()) {
            // an earlier execution started it and ended before it could record that
            id = findOwnChild(execution, place.stepId());
        }
        if (id == null) {
            scope.mayBegin();
            execution.durable();
            id = callWithRetry(scope, place, Entry.Kind.CALL, () -> {
                if (child.once()) {
                    Ancestry.refuseCircle(execution, child);
                }
                RunId before = Earlier.called(execution, place.path(), child);
                RunId called = before != null
                        ? before
                        : execution.engine().starter().start(execution.run(), child, place.stepId());
                return shared ? Ancestry.apart(execution, called) : called;
            });
            // CRASH(child-started): the child runs and its start is not recorded; a restart finds it by its key.
            execution.ambient().point("child-started");
            execution.record(
                    new Entry.Begun(
                            place.path(), Entry.Kind.CALL, execution.ambient().micros(), 0, id.text()),
                    64);
        }
        return output(scope, place, new Called(id, shared));
    }

    /** @param shared it has its own key or id, so that it may have several callers */
    private record Called(RunId id, boolean shared) {}

    /** Returns the child that only this step started, or null. */
    private static @Nullable RunId findOwnChild(Execution execution, String stepId) {
        Name name = new Name(execution.run().workspace(), Name.Kind.CHILD, stepId);
        Known known =
                execution.maybe(reads -> reads.names(List.of(name)).known().getFirst());
        return known == null ? null : known.run();
    }

    /**
     * Calls another run and retries while the store is unavailable; the step id makes repeated calls one.
     * A permanent rejection is recorded as the failure of the step.
     */
    private static <T> T callWithRetry(Scope scope, Scope.Place place, Entry.Kind kind, Supplier<T> call) {
        Execution execution = scope.execution();
        for (int tries = 0; ; tries++) {
            try {
                return call.get();
            } catch (StoreFailure e) {
                throw execution.end(new Unwind.Lost(e));
            } catch (SemelException refusal) {
                if (!refusal.code().retryable() || refusal.code() == ErrorCode.INTERNAL) {
                    Entry.Problem problem = Results.problem(refusal);
                    long at = execution.ambient().micros();
                    execution.record(new Entry.Failed(place.path(), kind, at, problem, 1), 256);
                    throw Results.failure(place.path(), problem, 1, refusal);
                }
            }
            long pause = Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(tries, 8));
            scope.waitFor(execution.storeNow() + pause, "store", place.path());
            scope.mayBegin();
        }
    }

    private static @Nullable RunId findStarted(Scope.Place place) {
        Entry.Begun begun = place.trace() == null ? null : place.trace().begun();
        return begun == null || begun.ref() == null ? null : RunId.parse(begun.ref());
    }

    /**
     * Waits for the end of a child.
     * A parent that is cancelled or timed out stops the child unless it is shared, and still waits: the child must
     * compensate first. If the child failed and was replayed since, the replay counts; replays belong to those who
     * started them.
     */
    private static JsonNode output(Scope scope, Scope.Place place, Called child) {
        Execution execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakes();
            Rows.Run run = execution.maybe(reads -> Earlier.speaker(reads, child.id()));
            if (run == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "The store no longer has the run that step \"" + place.path()
                                + "\" called. Its result is unknown.",
                        "Set the retention of finished runs longer than the runs that wait for them.");
            }
            boolean shared = child.shared() || !run.id().equals(child.id());
            boolean stops = !shared && scope.stops();
            if (run.end() != null) {
                if (stops && run.state() != RunState.COMPLETED) {
                    scope.mayBegin(); // throws: this run caused the end of the child
                }
                return ended(execution, place, run);
            }
            if (stops) {
                stop(execution, run);
            } else if (shared) {
                scope.mayBegin();
            } else {
                execution.mayAct();
            }
            scope.await(pollWait(execution, place.path(), run, looks), seen, stops);
        }
    }

    /**
     * Stops the unshared children of a cancelled run and waits for them, if its code ended without reaching their
     * calls.
     */
    static void takeAlong(Execution execution) {
        if (!execution.cancelled()) {
            return;
        }
        Scope scope = new Scope(execution, StepPath.ROOT, true);
        execution.memory().openCalls().forEach((path, child) -> {
            RunId id = RunId.parse(child);
            if (id != null && execution.asks(path) && id.equals(findOwnChild(execution, scope.stepId(path)))) {
                stopAndAwait(scope, path, id);
            }
        });
    }

    private static void stopAndAwait(Scope scope, String path, RunId child) {
        Execution execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakes();
            Rows.Run run = execution.maybe(reads -> reads.claimed(child));
            if (run == null || run.end() != null) {
                return;
            }
            execution.mayAct();
            stop(execution, run);
            scope.await(pollWait(execution, path, run, looks), seen, true);
        }
    }

    /** Polls at growing intervals; the end of a child also wakes its parent. */
    private static Waits.Wait pollWait(Execution execution, String path, Rows.Run child, int looks) {
        long due = execution.storeNow() + Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(looks, 8));
        return new Waits.Wait(due, Waiting.text("run", path, due, child.runIdText()), false, false);
    }

    private static void stop(Execution execution, Rows.Run child) {
        if (child.work() == null || child.work().cancel()) {
            return; // already requested
        }
        try {
            execution.engine().starter().stop(execution.run(), child.id());
        } catch (SemelException e) {
            if (!e.code().retryable()) {
                throw e;
            }
            // The store is unavailable: the next poll tries again.
        }
    }

    private static JsonNode ended(Execution execution, Scope.Place place, Rows.Run run) {
        long at = execution.ambient().micros();
        Write.Ending ending = Objects.requireNonNull(run.end()).ending();
        if (run.state() == RunState.COMPLETED) {
            String output = ending.output() == null ? "null" : ending.output();
            execution.record(Entry.Done.plain(place.path(), Entry.Kind.CALL, at, Json.parse(output)), output.length());
            return Json.parse(output);
        }
        Entry.Problem problem = new Entry.Problem(
                Objects.requireNonNullElse(ending.errorCode(), ErrorCode.STEP_FAILED.slug()),
                List.of("run." + run.state().word()),
                "run " + run.runIdText() + " ended " + run.state().word() + ": " + ending.errorMessage());
        execution.record(new Entry.Failed(place.path(), Entry.Kind.CALL, at, problem, 1), 256);
        throw Results.failure(place.path(), problem, 1);
    }

    static void signal(Scope scope, String name, Durable.Outgoing signal) {
        Scope.Place place = scope.enter(name, Entry.Kind.SIGNAL);
        if (place.result() != null) {
            return;
        }
        Execution execution = scope.execution();
        scope.mayBegin();
        execution.durable();
        String key = signal.key() == null ? place.stepId() : signal.key();
        Edit.Signalled delivered = callWithRetry(
                scope,
                place,
                Entry.Kind.SIGNAL,
                () -> execution.engine().signaller().signal(execution.run().workspace(), signal, key));
        // CRASH(signal-sent): the signal was delivered and that is not recorded; a second send is a duplicate.
        execution.ambient().point("signal-sent");
        execution.record(
                Entry.Done.plain(
                        place.path(),
                        Entry.Kind.SIGNAL,
                        execution.ambient().micros(),
                        JsonNodeFactory.instance.stringNode(delivered.name())),
                64);
    }

    /** Delivers a signal to a run, whichever worker executes it. */
    @FunctionalInterface
    public interface Signaller {
        Edit.Signalled signal(int workspace, Durable.Outgoing signal, String key);
    }
}
