package dev.semel.engine.run;

import dev.semel.effect.EffectLedger;
import dev.semel.engine.signal.HumanReviewOpener;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.engine.step.StepResultSerializer;
import dev.semel.engine.step.StoredRunWaitReasonWriter;
import dev.semel.error.ErrorCode;
import dev.semel.error.RunCancelled;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

final class RunCompletionStoreWriteBuilder {
    private static final int CAUSES = 10;

    private RunCompletionStoreWriteBuilder() {}

    static RunExecutionAbort.Held poisonHold(ActiveRun run) {
        return new RunExecutionAbort.Held(
                "poison",
                "The worker crashed " + run.crashCount().total()
                        + " times in a row while it executed this run. The run is held; "
                        + "other runs are not affected. Find the cause, then continue or cancel the run.");
    }

    /** Returns how a held run is parked. If its code does not fit, workers with other code look for it. */
    static StoreWrite.Suspension restForHeld(InMemoryRunExecutionState execution, RunExecutionAbort.Held held) {
        String what = StoredRunWaitReasonWriter.toJson(
                held.reason(), execution.currentStep(), StoreWrite.Suspension.NEVER, held.getMessage());
        boolean poison = held.reason().equals("poison");
        long due = held.reason().equals("code") ? StoreWrite.Suspension.HELD : StoreWrite.Suspension.NEVER;
        // A cancel that arrived during the execution makes it due again.
        return new StoreWrite.Suspension(
                due, what, Integer.MAX_VALUE, execution.run().cancelRequested(), poison);
    }

    static StoreWrite.EndRun endCancelled(InMemoryRunExecutionState execution, String message) {
        ChildRunStepExecutor.stopOpenChildren(execution);
        settleOpenEffects(execution);
        return execution.toEndWrite(
                RunState.CANCELLED, new StoreWrite.RunResult(null, ErrorCode.RUN_CANCELLED.slug(), message, null));
    }

    static StoreWrite.EndRun endCompleted(InMemoryRunExecutionState execution, JsonNode output) {
        String left = execution.findUnrequestedPath();
        if (left != null && execution.cancelled()) {
            return endCancelled(
                    execution, "The workflow code does not match the journal; \"" + left + "\" was not compensated.");
        }
        if (left != null) {
            execution.counters().diverged.increment();
            throw new RunExecutionAbort.Held(
                    "code",
                    "The journal of this run has \"" + left + "\", but the workflow code ended without calling"
                            + " this step. The run is held. Deploy code that calls the step, or cancel the run.");
        }
        String text = StrictJsonCodec.write(output);
        int most = execution.engine().limits().outputBytes();
        if (text.length() > most) {
            return endFailed(
                    execution,
                    new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "The output of the run is larger than " + most + " bytes. It was not recorded.",
                            "Return a reference to the data instead of the data."));
        }
        return execution.toEndWrite(RunState.COMPLETED, StoreWrite.RunResult.output(text));
    }

    /** Nothing is compensated and no child is stopped: a resume or a replay continues where this run stopped. */
    static StoreWrite.EndRun endOutcomeUnknown(
            InMemoryRunExecutionState execution, RunExecutionAbort.OutcomeUnknown stop) {
        settleOpenEffects(execution);
        return execution.toEndWrite(
                RunState.FAILED,
                new StoreWrite.RunResult(
                        null,
                        ErrorCode.OUTCOME_UNKNOWN.slug(),
                        StepResultSerializer.sanitize(String.valueOf(stop.getMessage())),
                        stop.step()));
    }

    static StoreWrite.EndRun endFailed(InMemoryRunExecutionState execution, Throwable failure) {
        ChildRunStepExecutor.stopOpenChildren(execution);
        List<String> notCompensated = execution.compensations().runAll(execution, DurableWorkflowContext::new);
        execution.throwIfEnded();
        settleOpenEffects(execution);
        boolean cancelled = execution.cancelled() && isCancel(failure) || isRejection(failure);
        String step = switch (failure) {
            case StepFailed stepFailed -> stepFailed.step();
            case SemelException semelException
            when semelException.members().get("step") instanceof String named -> named;
            default -> execution.currentStep();
        };
        String code = switch (failure) {
            case StepFailed stepFailed -> stepFailed.reason();
            case SemelException semelException -> semelException.code().slug();
            default -> StepFailed.simpleName(failure.getClass().getName());
        };
        String text = switch (failure) {
            case StepFailed stepFailed -> stepFailed.failureMessage();
            case SemelException semelException -> semelException.detail();
            default -> StepResultSerializer.messageOf(failure);
        };
        String message =
                notCompensated.isEmpty() ? text : text + " Not compensated: " + String.join(", ", notCompensated);
        return execution.toEndWrite(
                cancelled ? RunState.CANCELLED : RunState.FAILED,
                new StoreWrite.RunResult(null, code, StepResultSerializer.sanitize(message), step));
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

    /** Whether a reviewer stopped the run. */
    private static boolean isRejection(Throwable failure) {
        return failure instanceof SemelException semelException && semelException.code() == ErrorCode.APPROVAL_REJECTED;
    }

    /**
     * For reservations of earlier executions: runs that share their key would wait forever. Reviews are opened before
     * the end, since no execution comes back later.
     */
    private static void settleOpenEffects(InMemoryRunExecutionState execution) {
        ActiveRun run = execution.run();
        List<EffectLedger.EffectRow> doubtful = new ArrayList<>();
        for (EffectLedger.EffectRow row : execution.read(reads -> reads.openEffects(run.id()))) {
            String protection = row.details().protection();
            boolean harmless = protection.equals("repeatable") || protection.equals("none");
            boolean resendable = row.expiresAt() > 0; // no doubt while the provider remembers the key
            if (row.state() == EffectLedger.EffectState.RESERVED) {
                EffectLedger.EffectHolder holder = new EffectLedger.EffectHolder(
                        row.holder().step(), run.id(), run.driver().claim(), execution.nextTurn());
                EffectLedger.EffectState to =
                        harmless ? EffectLedger.EffectState.UNCONFIRMED : EffectLedger.EffectState.UNKNOWN;
                execution.addLedgerOp(new EffectLedger.SettleSend(row.id(), holder, to, null));
            }
            if (!harmless && !resendable) {
                doubtful.add(row);
            }
        }
        if (!doubtful.isEmpty()) {
            execution.awaitDurable();
            Map<String, String> recorded = execution.read(reads -> HumanReviewOpener.readRecorded(reads, run.id()));
            for (EffectLedger.EffectRow row : doubtful) {
                // false: a user decided meanwhile
                var unused = HumanReviewOpener.open(
                        execution,
                        HumanReviewOpener.forUnsettledEffect(
                                row, recorded.get(row.details().path())));
            }
        }
    }
}
