package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Review.Kind;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Questions to people, few steps and few effects. Has dice of its own, like the settings. */
final class ReviewScript {
    private final RandomGenerator random = new Random(17);
    private final Supplier<List<Write.Driver>> driven;
    private final Reads reads;
    private long made;

    ReviewScript(Supplier<List<Write.Driver>> driven, Reads reads) {
        this.driven = driven;
        this.reads = reads;
    }

    Review<?> next() {
        List<Review.Row> open = reads.reviews()
                .open(new Review.Filter(1, null, null, null, Review.Place.FRONT, 50))
                .found();
        int dice = random.nextInt(8);
        if (open.isEmpty() || dice < 3) {
            return new Review.Ask(driver(), 1, "wf_pay", question());
        }
        Review.Row row = open.get(random.nextInt(open.size()));
        return switch (dice) {
            case 3, 4, 5 -> rule(row);
            case 6 -> new Review.Lapse(driver(), 1, question());
            default ->
                new Review.Told(1, row.id(), row.nextAt(), row.nextAt() + random.nextInt(1_000_000), "role:boss");
        };
    }

    private Review.Question question() {
        List<Ledger.Row> doubtful = reads.effects(Reads.EffectFilter.in(1, Ledger.State.UNKNOWN, 20)).found().stream()
                .sorted(Comparator.comparing(Ledger.Row::id))
                .toList();
        long due = random.nextBoolean() ? 0 : 1_000_000;
        if (!doubtful.isEmpty() && random.nextBoolean()) {
            String effect = doubtful.get(random.nextInt(doubtful.size())).id().digest();
            return new Review.Question(Kind.DOUBT, "pay", effect, "role:ops", "{}", due);
        }
        Kind kind = random.nextBoolean() ? Kind.APPROVAL : random.nextBoolean() ? Kind.CHANGE : Kind.HELD;
        return new Review.Question(kind, random.nextBoolean() ? "ok" : "may", "", "role:ops", "{}", due);
    }

    private Review.Rule rule(Review.Row row) {
        Edit.By by = new Edit.By(new RunId(900_000 + ++made, 5), "tester", "note");
        int version = random.nextInt(4) == 0 ? row.version() + 1 : random.nextInt(2) * row.version();
        return new Review.Rule(1, row.id(), version, "word", deed(row), by);
    }

    private Edit<?> deed(Review.Row row) {
        return switch (row.kind()) {
            case APPROVAL -> new Edit.Signal(1, row.run(), "#approval:" + row.step(), "decision", "{}");
            case CHANGE -> new Edit.Signal(1, row.run(), "#review:" + row.step(), "decision", "{}");
            case HELD -> new Edit.GoOn(1, row.run(), "tester", "");
            case DOUBT -> decide(row);
        };
    }

    private Edit<?> decide(Review.Row row) {
        Ledger.Row effect = reads.effect(new Ledger.Id(1, row.effect()));
        String result = random.nextBoolean() ? null : "{\"id\":8}";
        RunId holder = effect == null ? row.run() : effect.holder().run();
        Edit.By by = new Edit.By(new RunId(900_000 + ++made, 5), "tester", "looked");
        return new Edit.Decide(new Ledger.Id(1, row.effect()), holder, result, by);
    }

    /** Mostly of an execution that drives a run now. */
    private Write.Driver driver() {
        List<Write.Driver> mine = driven.get();
        return mine.isEmpty() || random.nextInt(8) == 0
                ? new Write.Driver(new RunId(9, 9), 1)
                : mine.get(random.nextInt(mine.size()));
    }
}
