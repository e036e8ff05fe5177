package dev.semel.runtime;

import dev.semel.effect.EffectLedger;
import dev.semel.engine.DecisionSignals;
import dev.semel.json.StrictJson;
import dev.semel.run.RunId;
import dev.semel.store.StoreCommand;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoredRows;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads open reviews and turns a user's decision on one into a single store change. */
public final class Reviews {
    private final SemelRuntime semel;

    Reviews(SemelRuntime semel) {
        this.semel = semel;
    }

    /** The user who decides, and an optional note. */
    public record DecidedBy(String by, String note) {}

    /**
     * A user's decision on a review.
     *
     * @param decision one of {@link #allowedDecisions}
     * @param result with `happened`: the result of the effect
     * @param version version of the review that the user saw; 0 for the current one
     */
    public record DecisionRequest(String decision, @Nullable JsonNode result, int version) {}

    /** The decisions that a review of this kind accepts. */
    public static Set<String> allowedDecisions(ReviewOperation.ReviewKind kind) {
        return switch (kind) {
            case DOUBT -> Set.of("happened", "did_not_happen", "stop");
            case CHANGE -> Set.of("send", "suppress", "stop");
            case APPROVAL -> Set.of("approve", "reject", "stop");
            case HELD -> Set.of("go_on", "stop");
        };
    }

    public ReviewOperation.@Nullable ReviewRow find(int workspace, String id) {
        return semel.view(reads -> reads.reviews().review(workspace, id));
    }

    /**
     * The store change of a decision. Null if the decision is no longer possible.
     *
     * @throws IllegalArgumentException if a review of this kind does not accept the decision
     */
    public RunHandle.@Nullable RunChange decisionChange(ReviewOperation.ReviewRow row, DecisionRequest verdict, DecidedBy who) {
        if (!allowedDecisions(row.kind()).contains(verdict.decision())) {
            throw new IllegalArgumentException(
                    "a review of kind " + row.kind() + " does not accept the decision " + verdict.decision());
        }
        Consequence consequence = consequence(row, verdict, who);
        return consequence == null ? null : withReview(row, verdict, who, consequence);
    }

    /**
     * The change that a decision causes in its run.
     *
     * @param runs the runs to wake afterwards
     */
    private record Consequence(StoreCommand<?> edit, List<RunId> runs) {}

    private RunHandle.RunChange withReview(ReviewOperation.ReviewRow row, DecisionRequest verdict, DecidedBy who, Consequence consequence) {
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), who.by(), who.note());
        var rule = new ReviewOperation.DecideReview(row.ws(), row.id(), verdict.version(), verdict.decision(), consequence.edit(), by);
        return new RunHandle.RunChange(new StoreCommand.ReviewCommand<>(rule), consequence.runs());
    }

    private @Nullable Consequence consequence(ReviewOperation.ReviewRow row, DecisionRequest verdict, DecidedBy who) {
        List<RunId> run = List.of(row.run());
        return switch (verdict.decision()) {
            case "stop" -> {
                RunId waits = waiting(row);
                yield new Consequence(new StoreCommand.CancelRun(row.ws(), waits, who.by(), who.note()), List.of(waits));
            }
            case "go_on" -> new Consequence(new StoreCommand.ContinueHeldRun(row.ws(), row.run(), who.by(), who.note()), run);
            case "happened", "did_not_happen" -> settlement(row, verdict, who);
            case "approve", "send" -> new Consequence(signal(row, true, who), run);
            default -> new Consequence(signal(row, false, who), run);
        };
    }

    /** The run that waits for the decision: the one that opened the review, or a replay that waits for the same. */
    private RunId waiting(ReviewOperation.ReviewRow row) {
        ReviewOperation.ReviewRow last = row.kind() == ReviewOperation.ReviewKind.DOUBT
                ? semel.view(reads -> reads.reviews().openReviewOf(row.ws(), row.effect()))
                : null;
        return last == null ? row.run() : last.run();
    }

    private static StoreCommand.SendSignal signal(ReviewOperation.ReviewRow row, boolean yes, DecidedBy who) {
        String name = Objects.requireNonNull(row.decisionSignal(), "a review that is decided by a signal");
        String value = StrictJson.write(DecisionSignals.toJson(yes, who.by(), who.note()));
        return new StoreCommand.SendSignal(row.ws(), row.run(), name, DecisionSignals.SIGNAL_KEY, value);
    }

    private @Nullable Consequence settlement(ReviewOperation.ReviewRow row, DecisionRequest verdict, DecidedBy who) {
        EffectLedger.EffectId id = new EffectLedger.EffectId(row.ws(), row.effect());
        EffectLedger.EffectRow effect = semel.view(reads -> reads.effect(id));
        if (effect == null) {
            return null;
        }
        JsonNode given = verdict.result();
        String result = verdict.decision().equals("did_not_happen") ? null : given == null ? "null" : StrictJson.write(given);
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), who.by(), who.note());
        RunId holder = effect.holder().run();
        List<RunId> runs = Stream.of(holder, row.run(), waiting(row)).distinct().toList();
        return new Consequence(new StoreCommand.DecideEffect(id, holder, result, by), runs);
    }

    /** The change of a decision on an approval or a changed message; null if the run does not wait for one. */
    RunHandle.@Nullable RunChange decisionChange(StoredRows.RunRow run, String step, String word, DecidedBy who) {
        boolean approval = word.equals("approve") || word.equals("reject");
        String question = approval ? DecisionSignals.approvalSignal(step) : DecisionSignals.reviewSignal(step);
        String signal = semel.view(reads -> DecisionSignals.findSignal(reads, run.id(), question));
        if (signal == null) {
            return null;
        }
        ReviewOperation.ReviewRow row = find(run.ws(), ReviewOperation.id(run.id(), step));
        if (row != null) {
            return allowedDecisions(row.kind()).contains(word) ? decisionChange(row, new DecisionRequest(word, null, 0), who) : null;
        }
        // The wait is recorded in the journal, but the review row is not in the store yet.
        boolean yes = word.equals("approve") || word.equals("send");
        String value = StrictJson.write(DecisionSignals.toJson(yes, who.by(), who.note()));
        return new RunHandle.RunChange(new StoreCommand.SendSignal(run.ws(), run.id(), signal, DecisionSignals.SIGNAL_KEY, value), List.of(run.id()));
    }

    /** Whether the result of a change means that it was applied. */
    public static boolean isApplied(@Nullable Object outcome) {
        return outcome == StoreCommand.SignalResult.DELIVERED
                || Boolean.TRUE.equals(outcome)
                || outcome instanceof ReviewOperation.DecideReviewResult.Done;
    }

    /** Wakes the affected runs after a change was committed. */
    public void wakeAfter(RunHandle.RunChange ruling) {
        StoreCommand<?> edit = ruling.edit() instanceof StoreCommand.ReviewCommand<?>(ReviewOperation.DecideReview rule) ? rule.command() : ruling.edit();
        for (RunId run : ruling.runs()) {
            if (edit instanceof StoreCommand.CancelRun) {
                semel.runExecutor().cancel(run);
            }
            boolean here = semel.runExecutor().wake(run);
            if (!here && edit instanceof StoreCommand.DecideEffect) {
                semel.change(new StoreCommand.WakeRuns(List.of(run))); // a replay waits for another's effect
            }
        }
        semel.lookForWork();
    }

    /** Wakes a waiting run so that it checks its wait again, for example after its provider recovered. */
    public void wake(RunId run) {
        semel.wake(run);
    }
}
