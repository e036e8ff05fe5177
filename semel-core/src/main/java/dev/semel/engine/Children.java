package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.workflow.Durable;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** What a run does to other runs: it starts one and waits for it, or sends it a message. Each once, by its step's id. */
public final class Children {
    private static final long LOOK_AGAIN_MICROS = 500_000;
    private static final long LOOK_AGAIN_AT_MOST = 60_000_000;

    private Children() {}

    /** Starts a run for a step of another one. The same step finds the same run again. */
    @FunctionalInterface
    public interface Starter {
        RunId start(RunLoop.Resident parent, Durable.Child child, String stepId);
    }

    static JsonNode call(Scope scope, String name, Durable.Child child) {
        Scope.Place place = scope.enter(name, Entry.Kind.CALL);
        JsonNode known = place.result();
        if (known != null) {
            return known;
        }
        Execution execution = scope.execution();
        RunId id = begun(place);
        if (id == null) {
            scope.mayBegin();
            execution.durable();
            id = insist(scope, place, () -> execution.engine().starter().start(execution.run(), child, place.stepId()));
            // CRASH(child-started): the child runs and we do not know of it; asked again, its key finds it.
            execution.ambient().point("child-started");
            execution.record(
                    new Entry.Begun(
                            place.path(), Entry.Kind.CALL, execution.ambient().micros(), 0, id.text()),
                    64);
        }
        return output(scope, place, id);
    }

    /** Asks again while only the moment is wrong: the step's id makes it one deed, and the workflow did nothing wrong. */
    private static <T> T insist(Scope scope, Scope.Place place, Supplier<T> ask) {
        for (int tries = 0; ; tries++) {
            try {
                return ask.get();
            } catch (SemelException e) {
                if (!e.code().retryable() || e.code() == ErrorCode.INTERNAL) {
                    throw e;
                }
            }
            long pause = Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(tries, 8));
            scope.waitFor(scope.execution().storeNow() + pause, "store", place.path());
            scope.mayBegin();
        }
    }

    private static @Nullable RunId begun(Scope.Place place) {
        Entry.Begun begun = place.trace() == null ? null : place.trace().begun();
        return begun == null || begun.ref() == null ? null : RunId.parse(begun.ref());
    }

    private static JsonNode output(Scope scope, Scope.Place place, RunId id) {
        Execution execution = scope.execution();
        for (int looks = 0; ; looks++) {
            long seen = execution.waits().wakes();
            Rows.Run run = execution.lookFor(reads -> reads.claimed(id));
            if (run == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "The run that step \"" + place.path() + "\" started is not in the store any more.",
                        "Keep finished runs for longer than the runs that wait for them.");
            }
            if (run.end() != null) {
                return ended(execution, place, run);
            }
            long due = execution.storeNow() + Math.min(LOOK_AGAIN_AT_MOST, LOOK_AGAIN_MICROS << Math.min(looks, 8));
            scope.mayBegin();
            scope.await(
                    new Waits.Wait(due, Waiting.text("run", place.path(), due, run.runIdText()), false, false), seen);
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
        Edit.Signalled delivered = insist(
                scope,
                place,
                () -> execution.engine().signaller().signal(execution.run().workspace(), signal, key));
        // CRASH(signal-sent): it was delivered and that is not on record; sent again, its key is known.
        execution.ambient().point("signal-sent");
        execution.record(
                Entry.Done.plain(
                        place.path(),
                        Entry.Kind.SIGNAL,
                        execution.ambient().micros(),
                        JsonNodeFactory.instance.stringNode(delivered.name())),
                64);
    }

    /** Delivers a signal to a run, wherever it is driven. */
    @FunctionalInterface
    public interface Signaller {
        Edit.Signalled signal(int workspace, Durable.Outgoing signal, String key);
    }
}
