package dev.semel.runtime;

import dev.semel.effect.EffectLedger;
import dev.semel.engine.signal.ApprovalDecisionSignalCodec;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads open reviews and turns a user's decision on one into a single store change. */
public final class HumanReviewDecisionRecorder {
    private static final Logger LOG = System.getLogger(HumanReviewDecisionRecorder.class.getName());

    private final SemelRuntime semel;

    HumanReviewDecisionRecorder(SemelRuntime semel) {
        this.semel = semel;
    }

    public record DecidedBy(String by, String note) {}

    /**
     * @param decision one of {@link #allowedDecisions}
     * @param result with `happened`: the result of the effect
     * @param version version of the review that the user saw; 0 for the current one
     */
    public record DecisionRequest(String decision, @Nullable JsonNode result, int version) {}

    public static Set<String> allowedDecisions(HumanReviewStoreWriteCommand.ReviewKind kind) {
        return switch (kind) {
            case DOUBT -> Set.of("happened", "did_not_happen", "stop");
            case CHANGE -> Set.of("send", "suppress", "stop");
            case APPROVAL -> Set.of("approve", "reject", "stop");
            case HELD -> Set.of("continue", "stop");
        };
    }

    public HumanReviewStoreWriteCommand.@Nullable ReviewRow find(int workspace, String id) {
        return semel.view(reads -> reads.reviews().review(workspace, id));
    }

    /** Null if the decision is no longer possible; throws if a review of this kind does not accept it. */
    public RunHandle.@Nullable RunChange decisionChange(
            HumanReviewStoreWriteCommand.ReviewRow row, DecisionRequest decisionRequest, DecidedBy who) {
        if (!allowedDecisions(row.kind()).contains(decisionRequest.decision())) {
            throw new IllegalArgumentException(
                    "a review of kind " + row.kind() + " does not accept the decision " + decisionRequest.decision());
        }
        Consequence consequence = consequence(row, decisionRequest, who);
        return consequence == null ? null : withReview(row, decisionRequest, who, consequence);
    }

    /** @param runs the runs to wake afterwards */
    private record Consequence(StoreWriteCommand<?> edit, List<RunId> runs) {}

    private RunHandle.RunChange withReview(
            HumanReviewStoreWriteCommand.ReviewRow row,
            DecisionRequest decisionRequest,
            DecidedBy who,
            Consequence consequence) {
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(semel.newId(), who.by(), who.note());
        var rule = new HumanReviewStoreWriteCommand.DecideReview(
                row.ws(), row.id(), decisionRequest.version(), decisionRequest.decision(), consequence.edit(), by);
        return new RunHandle.RunChange(new StoreWriteCommand.ReviewCommand<>(rule), consequence.runs());
    }

    private @Nullable Consequence consequence(
            HumanReviewStoreWriteCommand.ReviewRow row, DecisionRequest decisionRequest, DecidedBy who) {
        List<RunId> run = List.of(row.run());
        return switch (decisionRequest.decision()) {
            case "stop" -> {
                RunId waits = waiting(row);
                yield new Consequence(
                        new StoreWriteCommand.CancelRun(row.ws(), waits, who.by(), who.note()), List.of(waits));
            }
            case "continue" ->
                new Consequence(new StoreWriteCommand.ContinueHeldRun(row.ws(), row.run(), who.by(), who.note()), run);
            case "happened", "did_not_happen" -> settlement(row, decisionRequest, who);
            case "approve", "send" -> new Consequence(signal(row, true, who), run);
            default -> new Consequence(signal(row, false, who), run);
        };
    }

    /** The run that waits for the decision: the one that opened the review, or a replay that waits for the same. */
    private RunId waiting(HumanReviewStoreWriteCommand.ReviewRow row) {
        HumanReviewStoreWriteCommand.ReviewRow last = row.kind() == HumanReviewStoreWriteCommand.ReviewKind.DOUBT
                ? semel.view(reads -> reads.reviews().openReviewOf(row.ws(), row.effect()))
                : null;
        return last == null ? row.run() : last.run();
    }

    private static StoreWriteCommand.SendSignal signal(
            HumanReviewStoreWriteCommand.ReviewRow row, boolean yes, DecidedBy who) {
        String name = Objects.requireNonNull(row.decisionSignal(), "a review that is decided by a signal");
        String value = StrictJsonCodec.write(ApprovalDecisionSignalCodec.toJson(yes, who.by(), who.note()));
        return new StoreWriteCommand.SendSignal(
                row.ws(), row.run(), name, ApprovalDecisionSignalCodec.SIGNAL_KEY, value);
    }

    private @Nullable Consequence settlement(
            HumanReviewStoreWriteCommand.ReviewRow row, DecisionRequest decisionRequest, DecidedBy who) {
        EffectLedger.EffectId id = new EffectLedger.EffectId(row.ws(), row.effect());
        EffectLedger.EffectRow effect = semel.view(reads -> reads.effect(id));
        if (effect == null) {
            return null;
        }
        JsonNode given = decisionRequest.result();
        String result = decisionRequest.decision().equals("did_not_happen")
                ? null
                : given == null ? "null" : StrictJsonCodec.write(given);
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(semel.newId(), who.by(), who.note());
        RunId holder = effect.holder().run();
        List<RunId> runs = Stream.of(holder, row.run(), waiting(row)).distinct().toList();
        return new Consequence(new StoreWriteCommand.DecideEffect(id, holder, result, by), runs);
    }

    /** The change of a decision on an approval or a changed message; null if the run does not wait for one. */
    RunHandle.@Nullable RunChange decisionChange(DatabaseRows.RunRow run, String step, String word, DecidedBy who) {
        boolean approval = word.equals("approve") || word.equals("reject");
        String question = approval
                ? ApprovalDecisionSignalCodec.approvalSignal(step)
                : ApprovalDecisionSignalCodec.reviewSignal(step);
        String signal = semel.view(reads -> ApprovalDecisionSignalCodec.findSignal(reads, run.id(), question));
        if (signal == null) {
            return null;
        }
        HumanReviewStoreWriteCommand.ReviewRow row = find(run.ws(), HumanReviewStoreWriteCommand.id(run.id(), step));
        if (row != null) {
            return allowedDecisions(row.kind()).contains(word)
                    ? decisionChange(row, new DecisionRequest(word, null, 0), who)
                    : null;
        }
        // The wait is recorded in the journal, but the review row is not in the store yet.
        boolean yes = word.equals("approve") || word.equals("send");
        String value = StrictJsonCodec.write(ApprovalDecisionSignalCodec.toJson(yes, who.by(), who.note()));
        return new RunHandle.RunChange(
                new StoreWriteCommand.SendSignal(
                        run.ws(), run.id(), signal, ApprovalDecisionSignalCodec.SIGNAL_KEY, value),
                List.of(run.id()));
    }

    public static boolean isApplied(@Nullable Object outcome) {
        return outcome == StoreWriteCommand.SignalResult.DELIVERED
                || Boolean.TRUE.equals(outcome)
                || outcome instanceof HumanReviewStoreWriteCommand.DecideReviewResult.Done;
    }

    /** Wakes the affected runs after a change was committed. */
    public void wakeAfter(RunHandle.RunChange change) {
        StoreWriteCommand<?> edit = change.edit()
                        instanceof StoreWriteCommand.ReviewCommand<?>(HumanReviewStoreWriteCommand.DecideReview rule)
                ? rule.command()
                : change.edit();
        for (RunId run : change.runs()) {
            if (edit instanceof StoreWriteCommand.CancelRun) {
                semel.runExecutor().cancel(run);
            }
            if (edit instanceof StoreWriteCommand.DecideEffect decided && run.equals(decided.run())) {
                resumeStopped(run, decided.by());
            }
            boolean here = semel.runExecutor().wake(run);
            if (!here && edit instanceof StoreWriteCommand.DecideEffect) {
                semel.change(new StoreWriteCommand.WakeRuns(List.of(run))); // a replay waits for another's effect
            }
        }
        semel.lookForWork();
    }

    /** Resumes a run that had stopped because the outcome of the effect was unknown. */
    private void resumeStopped(RunId id, StoreWriteCommand.ChangeAuthor by) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.claimedRun(id));
        if (run == null || !run.hasUnknownOutcome()) {
            return;
        }
        try {
            FailedRunResumePlan resumption = semel.replays()
                    .previewResume(
                            run,
                            FailedRunResumeRequest.because(
                                    by.actor(), "the outcome of the effect was decided. " + by.reason()));
            semel.replays().checkResumed(run, resumption, semel.change(resumption.edit()));
        } catch (SemelException e) {
            LOG.log(
                    Level.INFO,
                    "the outcome of an effect was decided, but its run {0} was not resumed: {1}",
                    run.runIdText(),
                    e.detail());
        }
    }

    /** Wakes a waiting run so that it checks its wait again, for example after its provider recovered. */
    public void wake(RunId run) {
        semel.wake(run);
    }
}
