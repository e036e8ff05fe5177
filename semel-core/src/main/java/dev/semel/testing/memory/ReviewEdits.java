package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.store.Review.Asked;
import dev.semel.store.Review.Ruled;
import dev.semel.store.Write;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Questions to people. */
final class ReviewEdits {
    private final Tables tables;
    private final Edits edits;

    ReviewEdits(Tables tables, Edits edits) {
        this.tables = tables;
        this.edits = edits;
    }

    Object apply(Review<?> review, long now) {
        return switch (review) {
            case Review.Ask ask -> ask(ask, now);
            case Review.Rule rule -> rule(rule, now);
            case Review.Lapse lapse -> lapse(lapse, now);
            case Review.Told told -> told(told);
        };
    }

    private Asked ask(Review.Ask ask, long now) {
        Review.Question question = ask.question();
        RunId run = ask.by().run();
        if (!isDriven(ask.by())) {
            return Asked.GONE;
        }
        if (isSettled(ask.workspace(), run, question)) {
            return Asked.SETTLED;
        }
        String id = Review.id(run, question.step());
        Review.Row there = tables.reviews.get(new Pair<>(ask.workspace(), id));
        boolean stands = there != null && there.standsFor(question);
        if (stands || isAskedElsewhere(ask.workspace(), id, question)) {
            return Asked.ASKED;
        }
        put(new Review.Row(
                ask.workspace(),
                id,
                run,
                question.step(),
                there == null ? ask.workflowId() : there.workflowId(),
                question.kind(),
                there == null ? 1 : there.version() + 1,
                question.effect(),
                question.reviewer(),
                question.text(),
                now,
                question.dueIn() == 0 ? Write.Rest.NEVER : now + question.dueIn(),
                now,
                0,
                "",
                "",
                ""));
        return Asked.ASKED;
    }

    private void put(Review.Row row) {
        tables.reviews.put(new Pair<>(row.ws(), row.id()), row);
    }

    private boolean isDriven(Write.Driver by) {
        Work work = tables.work.get(by.run());
        return work != null && work.claims == by.claim() && work.owner != null;
    }

    private boolean isSettled(int ws, RunId run, Review.Question question) {
        if (question.kind() == Review.Kind.DOUBT) {
            Ledger.Row row = tables.effects.get(new Ledger.Id(ws, question.effect()));
            return row == null || row.state() != Ledger.State.UNKNOWN;
        }
        String signal = question.signal();
        return signal != null
                && tables.signals.rows().tailMap(new Pair<>(run, new Pair<>(signal, ""))).keySet().stream()
                        .limit(1)
                        .anyMatch(key ->
                                key.first().equals(run) && key.second().first().equals(signal));
    }

    private boolean isAskedElsewhere(int ws, String id, Review.Question question) {
        return !question.effect().isEmpty()
                && about(ws, question.effect()).stream()
                        .anyMatch(row -> !row.id().equals(id) && tables.work.has(row.run()));
    }

    private List<Review.Row> about(int ws, String effect) {
        return tables.reviews.rows().values().stream()
                .filter(row -> row.ws() == ws && row.isOpen() && row.effect().equals(effect))
                .toList();
    }

    private Ruled rule(Review.Rule rule, long now) {
        var key = new Pair<>(rule.workspace(), rule.id());
        Review.Row row = tables.reviews.get(key);
        if (row == null) {
            return new Ruled.Absent();
        }
        if (edits.isDone(rule.by())) {
            return new Ruled.Done(row); // applied again after a lost answer
        }
        boolean open = row.isOpen() && (rule.version() == 0 || rule.version() == row.version());
        if (!open || !isTrue(edits.apply(rule.deed(), now))) {
            Review.Row found = tables.reviews.get(key);
            return new Ruled.Lost(found == null ? row : found);
        }
        Review.Row decided = row.decided(
                now,
                new Review.Decided(rule.decision(), rule.by().actor(), rule.by().reason()));
        put(decided);
        edits.audit(row.ws(), now, rule.by(), List.of("review." + rule.decision(), row.id()));
        return new Ruled.Done(decided);
    }

    private static boolean isTrue(@Nullable Object outcome) {
        return Boolean.TRUE.equals(outcome) || outcome == Edit.Signalled.DELIVERED;
    }

    /** An effect in doubt was decided in whatever way: all who asked about it have their answer. */
    void settled(Edit.Decide decide, long now) {
        String what = decide.result() == null ? "did_not_happen" : "happened";
        var how = new Review.Decided(what, decide.by().actor(), decide.by().reason());
        about(decide.effect().workspace(), decide.effect().digest()).forEach(row -> put(row.decided(now, how)));
    }

    private Asked lapse(Review.Lapse lapse, long now) {
        if (!isDriven(lapse.by())) {
            return Asked.GONE;
        }
        RunId run = lapse.by().run();
        if (isSettled(lapse.workspace(), run, lapse.question())) {
            return Asked.SETTLED;
        }
        String id = Review.id(run, lapse.question().step());
        Review.Row row = tables.reviews.get(new Pair<>(lapse.workspace(), id));
        if (row != null && row.isOpen()) {
            put(row.decided(now, new Review.Decided(Review.TIMED_OUT, "", "")));
        }
        return Asked.ASKED;
    }

    private boolean told(Review.Told told) {
        Review.Row row = tables.reviews.get(new Pair<>(told.workspace(), told.id()));
        if (row == null || !row.isOpen() || row.nextAt() != told.nominal()) {
            return false;
        }
        put(row.told(told.next(), told.reviewer()));
        return true;
    }
}
