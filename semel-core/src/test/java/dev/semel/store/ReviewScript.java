package dev.semel.store;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand.ReviewKind;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Questions to people, few steps and few effects. Has dice of its own, like the settings. */
final class ReviewScript {
    private final RandomGenerator random = new Random(17);
    private final Supplier<List<StoreWrite.RunExecution>> executed;
    private final StoreQueries reads;
    private long made;

    ReviewScript(Supplier<List<StoreWrite.RunExecution>> executed, StoreQueries reads) {
        this.executed = executed;
        this.reads = reads;
    }

    HumanReviewStoreWriteCommand<?> next() {
        List<HumanReviewStoreWriteCommand.ReviewRow> open = reads.reviews()
                .open(new HumanReviewStoreWriteCommand.OpenReviewFilter(
                        1, null, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 50))
                .found();
        int dice = random.nextInt(8);
        if (open.isEmpty() || dice < 3) {
            return new HumanReviewStoreWriteCommand.OpenReview(driver(), 1, "wf_pay", question());
        }
        HumanReviewStoreWriteCommand.ReviewRow row = open.get(random.nextInt(open.size()));
        return switch (dice) {
            case 3, 4, 5 -> rule(row);
            case 6 -> new HumanReviewStoreWriteCommand.ExpireReview(driver(), 1, question());
            default ->
                new HumanReviewStoreWriteCommand.RecordReminder(
                        1,
                        row.id(),
                        row.nextReminderAt(),
                        row.nextReminderAt() + random.nextInt(1_000_000),
                        "role:boss");
        };
    }

    private HumanReviewStoreWriteCommand.ReviewQuestion question() {
        List<EffectLedger.EffectRow> doubtful =
                reads.effects(StoreQueries.EffectFilter.in(1, EffectLedger.EffectState.UNKNOWN, 20)).found().stream()
                        .sorted(Comparator.comparing(EffectLedger.EffectRow::id))
                        .toList();
        long due = random.nextBoolean() ? 0 : 1_000_000;
        if (!doubtful.isEmpty() && random.nextBoolean()) {
            String effect = doubtful.get(random.nextInt(doubtful.size())).id().digest();
            return new HumanReviewStoreWriteCommand.ReviewQuestion(
                    ReviewKind.DOUBT, "pay", effect, "role:ops", "{}", due);
        }
        ReviewKind kind =
                random.nextBoolean() ? ReviewKind.APPROVAL : random.nextBoolean() ? ReviewKind.CHANGE : ReviewKind.HELD;
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                kind, random.nextBoolean() ? "ok" : "may", "", "role:ops", "{}", due);
    }

    private HumanReviewStoreWriteCommand.DecideReview rule(HumanReviewStoreWriteCommand.ReviewRow row) {
        StoreWriteCommand.ChangeAuthor by =
                new StoreWriteCommand.ChangeAuthor(new RunId(900_000 + ++made, 5), "tester", "note");
        int version = random.nextInt(4) == 0 ? row.version() + 1 : random.nextInt(2) * row.version();
        return new HumanReviewStoreWriteCommand.DecideReview(1, row.id(), version, "word", effect(row), by);
    }

    private StoreWriteCommand<?> effect(HumanReviewStoreWriteCommand.ReviewRow row) {
        return switch (row.kind()) {
            case APPROVAL ->
                new StoreWriteCommand.SendSignal(1, row.run(), "#approval:" + row.step(), "decision", "{}");
            case CHANGE -> new StoreWriteCommand.SendSignal(1, row.run(), "#review:" + row.step(), "decision", "{}");
            case HELD -> new StoreWriteCommand.ContinueHeldRun(1, row.run(), "tester", "");
            case DOUBT -> decide(row);
        };
    }

    private StoreWriteCommand<?> decide(HumanReviewStoreWriteCommand.ReviewRow row) {
        EffectLedger.EffectRow effect = reads.effect(new EffectLedger.EffectId(1, row.effect()));
        String result = random.nextBoolean() ? null : "{\"id\":8}";
        RunId holder = effect == null ? row.run() : effect.holder().run();
        StoreWriteCommand.ChangeAuthor by =
                new StoreWriteCommand.ChangeAuthor(new RunId(900_000 + ++made, 5), "tester", "looked");
        return new StoreWriteCommand.DecideEffect(new EffectLedger.EffectId(1, row.effect()), holder, result, by);
    }

    /** Mostly of an execution that drives a run now. */
    private StoreWrite.RunExecution driver() {
        List<StoreWrite.RunExecution> mine = executed.get();
        return mine.isEmpty() || random.nextInt(8) == 0
                ? new StoreWrite.RunExecution(new RunId(9, 9), 1)
                : mine.get(random.nextInt(mine.size()));
    }
}
