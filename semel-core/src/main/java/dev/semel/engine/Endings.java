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

/** How a run ends, whatever its code did; and what keeps it from ending. */
final class Endings {
    private static final int CAUSES = 10;

    private Endings() {}

    static Unwind.Held poison(RunLoop.Resident run) {
        return new Unwind.Held(
                "poison",
                "The worker died " + run.falls() + " times in a row while it drove this run. The run is held; other "
                        + "runs are not affected. Find out why, then let it go on or cancel it.");
    }

    /** How a run rests that is held; where its code does not fit, workers with other code look for it. */
    static Write.Rest held(Execution execution, Unwind.Held held) {
        String what = Waiting.text(held.reason(), execution.current(), Write.Rest.NEVER, held.getMessage());
        boolean poison = held.reason().equals("poison");
        long due = held.reason().equals("code") ? Write.Rest.HELD : Write.Rest.NEVER;
        // A cancel that came while it was driven is reason enough to look again.
        return new Write.Rest(due, what, Integer.MAX_VALUE, execution.run().cancel(), poison);
    }

    static Write.End cancelled(Execution execution, String message) {
        Children.takeAlong(execution);
        doubtWhatIsOpen(execution);
        return execution.ending(
                RunState.CANCELLED, new Write.Ending(null, ErrorCode.RUN_CANCELLED.slug(), message, null));
    }

    static Write.End completed(Execution execution, JsonNode output) {
        String left = execution.leftOver();
        if (left != null && execution.cancelled()) {
            return cancelled(execution, "Its code does not fit its record; \"" + left + "\" was not undone.");
        }
        if (left != null) {
            execution.counters().diverged.increment();
            throw new Unwind.Held(
                    "code",
                    "The record of this run has \"" + left + "\", but the code ended without asking for it. The run is "
                            + "held. Deploy code that asks for it, or cancel the run.");
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
        List<String> notUndone = execution.undos().run(execution);
        execution.goOn();
        doubtWhatIsOpen(execution);
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
        String message = notUndone.isEmpty() ? text : text + " Not undone: " + String.join(", ", notUndone);
        return execution.ending(
                cancelled ? RunState.CANCELLED : RunState.FAILED,
                new Write.Ending(null, code, Results.clean(message), step));
    }

    /** The code of the user may have wrapped it. */
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
     * What an earlier execution meant to send and this one did not come to again is in doubt when the run ends: nobody
     * would ever settle it otherwise, and runs that share its key would wait for ever. Of all that stays in doubt people
     * are asked before the end, since afterwards nobody is there to ask.
     */
    private static void doubtWhatIsOpen(Execution execution) {
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
                var unused = Inquiry.ask(execution, Inquiry.left(row)); // false: it was decided meanwhile
            }
        }
    }
}
