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

/** What runs ask of people, and how an answer becomes one change in the store. */
public final class Reviews {
    private final Semel semel;

    Reviews(Semel semel) {
        this.semel = semel;
    }

    /** Who decides, and why. */
    public record Who(String by, String note) {}

    /**
     * @param word of {@link #words}
     * @param result with `happened`: what came of it
     * @param version of the question that is meant; 0 for whichever is open
     */
    public record Verdict(String word, @Nullable JsonNode result, int version) {}

    /** What may be decided about a question of that kind. */
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
     * A decision as the change that it is. Null where it cannot be made any more.
     *
     * @throws IllegalArgumentException for a word that does not answer this question
     */
    public Run.@Nullable Ruling ruling(Review.Row row, Verdict verdict, Who who) {
        if (!words(row.kind()).contains(verdict.word())) {
            throw new IllegalArgumentException(
                    verdict.word() + " does not answer a question of the kind " + row.kind());
        }
        Deed deed = deed(row, verdict, who);
        return deed == null ? null : ruled(row, verdict, who, deed);
    }

    /** @param runs who looks again afterwards */
    private record Deed(Edit<?> edit, List<RunId> runs) {}

    private Run.Ruling ruled(Review.Row row, Verdict verdict, Who who, Deed deed) {
        Edit.By by = new Edit.By(semel.newId(), who.by(), who.note());
        var rule = new Review.Rule(row.ws(), row.id(), verdict.version(), verdict.word(), deed.edit(), by);
        return new Run.Ruling(new Edit.Reviewing<>(rule), deed.runs());
    }

    private @Nullable Deed deed(Review.Row row, Verdict verdict, Who who) {
        List<RunId> run = List.of(row.run());
        return switch (verdict.word()) {
            case "stop" -> {
                RunId waits = waiting(row);
                yield new Deed(new Edit.Cancel(row.ws(), waits, who.by(), who.note()), List.of(waits));
            }
            case "go_on" -> new Deed(new Edit.GoOn(row.ws(), row.run(), who.by(), who.note()), run);
            case "happened", "did_not_happen" -> settlement(row, verdict, who);
            case "approve", "send" -> new Deed(signal(row, true, who), run);
            default -> new Deed(signal(row, false, who), run);
        };
    }

    /** Who waits for the answer: the run that asked; or, where that has ended in doubt, one that replays it and asks too. */
    private RunId waiting(Review.Row row) {
        Review.Row last = row.kind() == Review.Kind.DOUBT
                ? semel.view(reads -> reads.reviews().about(row.ws(), row.effect()))
                : null;
        return last == null ? row.run() : last.run();
    }

    private static Edit.Signal signal(Review.Row row, boolean yes, Who who) {
        String name = Objects.requireNonNull(row.signal(), "a question that is decided by a signal");
        String value = Json.write(Deciding.decision(yes, who.by(), who.note()));
        return new Edit.Signal(row.ws(), row.run(), name, Deciding.ONCE, value);
    }

    private @Nullable Deed settlement(Review.Row row, Verdict verdict, Who who) {
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
        return new Deed(new Edit.Decide(id, holder, result, by), runs);
    }

    /** The decision about an approval or a changed message of a run; null where it does not ask for it. */
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
        // It is on record that it asks, and the question is on its way to the store.
        boolean yes = word.equals("approve") || word.equals("send");
        String value = Json.write(Deciding.decision(yes, who.by(), who.note()));
        return new Run.Ruling(new Edit.Signal(run.ws(), run.id(), signal, Deciding.ONCE, value), List.of(run.id()));
    }

    /** Whether what a change answered says that it was done. */
    public static boolean isDone(@Nullable Object outcome) {
        return outcome == Edit.Signalled.DELIVERED
                || Boolean.TRUE.equals(outcome)
                || outcome instanceof Review.Ruled.Done;
    }

    /** It was done: whoever drives the runs looks again. */
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

    /** Runs that wait look again now, e.g. because their provider can be asked again. */
    public void lookAgain(RunId run) {
        semel.wake(run);
    }
}
