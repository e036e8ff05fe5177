package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.error.ErrorCode;
import dev.semel.error.RunCancelled;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.Json;
import dev.semel.run.RunState;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Builds the last write of an execution: completed, failed, cancelled or held. */
final class Endings {
    private static final int CAUSES = 10;

    private Endings() {}

    static Unwind.Held poison(RunLoop.Resident run) {
        return new Unwind.Held(
                "poison",
                "The worker crashed " + run.falls() + " times in a row while it executed this run. The run is held; "
                        + "other runs are not affected. Find the cause, then continue or cancel the run.");
    }

    /** Returns how a held run is parked. If its code does not fit, workers with other code look for it. */
    static Write.Rest held(Execution execution, Unwind.Held held) {
        String what = Waiting.text(held.reason(), execution.current(), Write.Rest.NEVER, held.getMessage());
        boolean poison = held.reason().equals("poison");
        long due = held.reason().equals("code") ? Write.Rest.HELD : Write.Rest.NEVER;
        // A cancel that arrived during the execution makes it due again.
        return new Write.Rest(due, what, Integer.MAX_VALUE, execution.run().cancel(), poison);
    }

    static Write.End cancelled(Execution execution, String message) {
        Children.takeAlong(execution);
        settleOpenEffects(execution);
        return execution.ending(
                RunState.CANCELLED, new Write.Ending(null, ErrorCode.RUN_CANCELLED.slug(), message, null));
    }

    static Write.End completed(Execution execution, JsonNode output) {
        String left = execution.leftOver();
        if (left != null && execution.cancelled()) {
            return cancelled(
                    execution, "The code does not match the journal; \"" + left + "\" was not compensated.");
        }
        if (left != null) {
            execution.counters().diverged.increment();
            throw new Unwind.Held(
                    "code",
                    "The journal of this run has \"" + left + "\", but the code ended without calling it. The run is "
                            + "held. Deploy code that calls it, or cancel the run.");
        }
        String text = Json.write(output);
        int most = execution.engine().limits().outputBytes();
        if (text.length() > most) {
            return failed(
                    execution,
                    new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "The output of the run is larger than " + most + " bytes. It was not recorded.",
                            "Return a reference to the data instead of the data."));
        }
        return execution.ending(RunState.COMPLETED, Write.Ending.output(text));
    }

    static Write.End failed(Execution execution, Throwable failure) {
        Children.takeAlong(execution);
        List<String> notCompensated = execution.undos().run(execution);
        execution.goOn();
        settleOpenEffects(execution);
        boolean cancelled = execution.cancelled() && isCancel(failure);
        String step = switch (failure) {
            case StepFailed known -> known.step();
            case SemelException known when known.members().get("step") instanceof String named -> named;
            default -> execution.current();
        };
        String code = switch (failure) {
            case StepFailed known -> known.reason();
            case SemelException known -> known.code().slug();
            default -> StepFailed.simpleName(failure.getClass().getName());
        };
        String text = switch (failure) {
            case StepFailed known -> known.said();
            case SemelException known -> known.detail();
            default -> Results.said(failure);
        };
        String message =
                notCompensated.isEmpty() ? text : text + " Not compensated: " + String.join(", ", notCompensated);
        return execution.ending(
                cancelled ? RunState.CANCELLED : RunState.FAILED,
                new Write.Ending(null, code, Results.clean(message), step));
    }

    /** Whether it was caused by the cancellation; user code may have wrapped the exception. */
    private static boolean isCancel(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < CAUSES; i++) {
            if (cause instanceof RunCancelled) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    /**
     * Settles effects that an earlier execution reserved and this one did not reach, when the run ends.
     * Otherwise they would stay open, and runs that share their key would wait forever. Reviews are opened before the
     * end, since no execution comes back later.
     */
    private static void settleOpenEffects(Execution execution) {
        RunLoop.Resident run = execution.run();
        List<Ledger.Row> doubtful = new ArrayList<>();
        for (Ledger.Row row : execution.ask(reads -> reads.effects(run.id()))) {
            String protection = row.facts().protection();
            boolean harmless = protection.equals("repeatable") || protection.equals("none");
            if (row.state() == Ledger.State.RESERVED) {
                Ledger.Holder holder = new Ledger.Holder(
                        row.holder().step(), run.id(), run.driver().claim(), execution.nextTurn());
                Ledger.State to = harmless ? Ledger.State.FREE : Ledger.State.UNKNOWN;
                execution.note(new Ledger.Settle(row.id(), holder, to, null));
            }
            if (!harmless && (row.state() == Ledger.State.RESERVED || row.state() == Ledger.State.UNKNOWN)) {
                doubtful.add(row);
            }
        }
        if (!doubtful.isEmpty()) {
            execution.durable();
            for (Ledger.Row row : doubtful) {
                var unused = Inquiry.ask(execution, Inquiry.left(row)); // false: a user decided meanwhile
            }
        }
    }
}
