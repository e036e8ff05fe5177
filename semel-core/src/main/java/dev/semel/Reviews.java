package dev.semel;

import dev.semel.effect.Ledger;
import dev.semel.engine.Deciding;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads open reviews and turns a user's decision on one into a single store change. */
public final class Reviews {
    private final Semel semel;

    Reviews(Semel semel) {
        this.semel = semel;
    }

    /** The user who decides, and an optional note. */
    public record Who(String by, String note) {}

    /**
     * A user's decision on a review.
     *
     * @param word one of {@link #words}
     * @param result with `happened`: the result of the effect
     * @param version version of the review that the user saw; 0 for the current one
     */
    public record Verdict(String word, @Nullable JsonNode result, int version) {}

    /** The decisions that a review of this kind accepts. */
    public static Set<String> words(Review.Kind kind) {
        return switch (kind) {
            case DOUBT -> Set.of("happened", "did_not_happen", "stop");
            case CHANGE -> Set.of("send", "suppress", "stop");
            case APPROVAL -> Set.of("approve", "reject", "stop");
            case HELD -> Set.of("go_on", "stop");
        };
    }

    public Review.@Nullable Row one(int workspace, String id) {
        return semel.view(reads -> reads.reviews().one(workspace, id));
    }

    /**
     * The store change of a decision. Null if the decision is no longer possible.
     *
     * @throws IllegalArgumentException if a review of this kind does not accept the decision
     */
    public Run.@Nullable Ruling ruling(Review.Row row, Verdict verdict, Who who) {
        if (!words(row.kind()).contains(verdict.word())) {
            throw new IllegalArgumentException(
                    "a review of kind " + row.kind() + " does not accept the decision " + verdict.word());
        }
        Consequence consequence = consequence(row, verdict, who);
        return consequence == null ? null : withReview(row, verdict, who, consequence);
    }

    /**
     * The change that a decision causes in its run.
     *
     * @param runs the runs to wake afterwards
     */
    private record Consequence(Edit<?> edit, List<RunId> runs) {}

    private Run.Ruling withReview(Review.Row row, Verdict verdict, Who who, Consequence consequence) {
        Edit.By by = new Edit.By(semel.newId(), who.by(), who.note());
        var rule = new Review.Rule(row.ws(), row.id(), verdict.version(), verdict.word(), consequence.edit(), by);
        return new Run.Ruling(new Edit.Reviewing<>(rule), consequence.runs());
    }

    private @Nullable Consequence consequence(Review.Row row, Verdict verdict, Who who) {
        List<RunId> run = List.of(row.run());
        return switch (verdict.word()) {
            case "stop" -> {
                RunId waits = waiting(row);
                yield new Consequence(new Edit.Cancel(row.ws(), waits, who.by(), who.note()), List.of(waits));
            }
            case "go_on" -> new Consequence(new Edit.GoOn(row.ws(), row.run(), who.by(), who.note()), run);
            case "happened", "did_not_happen" -> settlement(row, verdict, who);
            case "approve", "send" -> new Consequence(signal(row, true, who), run);
            default -> new Consequence(signal(row, false, who), run);
        };
    }

    /** The run that waits for the decision: the one that opened the review, or a replay that waits for the same. */
    private RunId waiting(Review.Row row) {
        Review.Row last = row.kind() == Review.Kind.DOUBT
                ? semel.view(reads -> reads.reviews().about(row.ws(), row.effect()))
                : null;
        return last == null ? row.run() : last.run();
    }

    private static Edit.Signal signal(Review.Row row, boolean yes, Who who) {
        String name = Objects.requireNonNull(row.signal(), "a review that is decided by a signal");
        String value = Json.write(Deciding.decision(yes, who.by(), who.note()));
        return new Edit.Signal(row.ws(), row.run(), name, Deciding.ONCE, value);
    }

    private @Nullable Consequence settlement(Review.Row row, Verdict verdict, Who who) {
        Ledger.Id id = new Ledger.Id(row.ws(), row.effect());
        Ledger.Row effect = semel.view(reads -> reads.effect(id));
        if (effect == null) {
            return null;
        }
        JsonNode given = verdict.result();
        String result = verdict.word().equals("did_not_happen") ? null : given == null ? "null" : Json.write(given);
        Edit.By by = new Edit.By(semel.newId(), who.by(), who.note());
        RunId holder = effect.holder().run();
        List<RunId> runs = Stream.of(holder, row.run(), waiting(row)).distinct().toList();
        return new Consequence(new Edit.Decide(id, holder, result, by), runs);
    }

    /** The change of a decision on an approval or a changed message; null if the run does not wait for one. */
    Run.@Nullable Ruling ruling(Rows.Run run, String step, String word, Who who) {
        boolean approval = word.equals("approve") || word.equals("reject");
        String question = approval ? Deciding.approval(step) : Deciding.review(step);
        String signal = semel.view(reads -> Deciding.asked(reads, run.id(), question));
        if (signal == null) {
            return null;
        }
        Review.Row row = one(run.ws(), Review.id(run.id(), step));
        if (row != null) {
            return words(row.kind()).contains(word) ? ruling(row, new Verdict(word, null, 0), who) : null;
        }
        // The wait is recorded in the journal, but the review row is not in the store yet.
        boolean yes = word.equals("approve") || word.equals("send");
        String value = Json.write(Deciding.decision(yes, who.by(), who.note()));
        return new Run.Ruling(new Edit.Signal(run.ws(), run.id(), signal, Deciding.ONCE, value), List.of(run.id()));
    }

    /** Whether the result of a change means that it was applied. */
    public static boolean isDone(@Nullable Object outcome) {
        return outcome == Edit.Signalled.DELIVERED
                || Boolean.TRUE.equals(outcome)
                || outcome instanceof Review.Ruled.Done;
    }

    /** Wakes the affected runs after a change was committed. */
    public void told(Run.Ruling ruling) {
        Edit<?> edit = ruling.edit() instanceof Edit.Reviewing<?>(Review.Rule rule) ? rule.deed() : ruling.edit();
        for (RunId run : ruling.runs()) {
            if (edit instanceof Edit.Cancel) {
                semel.runs().cancel(run);
            }
            boolean here = semel.runs().wake(run);
            if (!here && edit instanceof Edit.Decide) {
                semel.change(new Edit.Wake(List.of(run))); // a replay waits for another's effect
            }
        }
        semel.lookForWork();
    }

    /** Wakes a waiting run so that it checks its wait again, for example after its provider recovered. */
    public void lookAgain(RunId run) {
        semel.wake(run);
    }
}
