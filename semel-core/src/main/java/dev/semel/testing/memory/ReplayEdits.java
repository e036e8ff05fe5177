package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Replay;
import dev.semel.store.Replay.Fate;
import dev.semel.store.Replay.State;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Plans of safe replays. */
final class ReplayEdits {
    private static final long VALID_MICROS = Replay.VALID.toNanos() / 1_000;

    private final Tables tables;
    private final Edits edits;

    ReplayEdits(Tables tables, Edits edits) {
        this.tables = tables;
        this.edits = edits;
    }

    @Nullable
    Object apply(Replay<?> replay, long now) {
        return switch (replay) {
            case Replay.Lay lay -> lay(lay, now);
            case Replay.Note note -> note(note);
            case Replay.Drop drop -> drop(drop);
            case Replay.Ready ready -> {
                Row row = row(0, ready.plan(), plan -> plan.state() == State.MAKING);
                row.change(before -> copy(before, State.PLANNED, ready.counts(), now + VALID_MICROS));
                yield tables.plans.get(ready.plan());
            }
            case Replay.Approve approve -> approve(approve, now);
            case Replay.Begin begin -> begin(begin, now);
            case Replay.Take take ->
                row(0, take.plan(), plan -> plan.state() == State.APPLYING && free(plan, take.by(), now))
                        .change(before -> taken(before, take.by(), now + take.lasts()));
            case Replay.LetGo go ->
                row(
                                0,
                                go.plan(),
                                plan -> plan.state() == State.APPLYING
                                        && go.by().equals(plan.takenBy()))
                        .change(before ->
                                moved(before, before.state(), go.note(), new Hold(null, 0, before.endedAt())));
            case Replay.Settle settle -> settle(settle);
            case Replay.Finish finish ->
                row(0, finish.plan(), plan -> plan.state() == State.APPLYING)
                        .change(before -> ended(before, finish.state(), finish.note(), now));
            case Replay.Stop stop -> stop(stop, now);
            case Replay.Delete delete -> delete(delete);
        };
    }

    private static boolean free(Replay.Plan plan, RunId by, long now) {
        return plan.takenUntil() <= now || by.equals(plan.takenBy());
    }

    /** A plan that may be changed; null where there is none that fits. */
    private record Row(Tables tables, Replay.@Nullable Plan plan) {
        boolean change(java.util.function.UnaryOperator<Replay.Plan> how) {
            if (plan != null) {
                tables.plans.put(plan.id(), how.apply(plan));
            }
            return plan != null;
        }
    }

    /** @param ws 0 for any */
    private Row row(int ws, RunId id, Predicate<Replay.Plan> fits) {
        Replay.Plan plan = find(tables, ws, id);
        return new Row(tables, plan != null && fits.test(plan) ? plan : null);
    }

    static Replay.@Nullable Plan find(Tables tables, int ws, RunId id) {
        Replay.Plan plan = tables.plans.get(id);
        return plan == null || (ws != 0 && plan.ws() != ws) ? null : plan;
    }

    private Replay.Plan lay(Replay.Lay lay, long now) {
        tables.plans.add(
                lay.id(),
                new Replay.Plan(
                        lay.id(),
                        lay.ws(),
                        lay.madeBy(),
                        lay.wish(),
                        lay.input(),
                        now,
                        now + VALID_MICROS,
                        State.MAKING,
                        "{}",
                        lay.approval() ? null : "",
                        lay.how(),
                        null,
                        "",
                        null,
                        0,
                        0));
        return Objects.requireNonNull(tables.plans.get(lay.id()));
    }

    private int note(Replay.Note note) {
        if (row(0, note.plan(), plan -> plan.state() == State.MAKING).plan() == null) {
            return 0;
        }
        for (Replay.Item item : note.items()) {
            tables.planItems.put(new Pair<>(note.plan(), item.run()), item.became(Fate.PLANNED, null, ""));
        }
        return note.items().size();
    }

    private Replay.@Nullable Plan approve(Replay.Approve approve, long now) {
        String actor = approve.by().actor();
        boolean approved = row(
                        approve.ws(),
                        approve.plan(),
                        plan -> plan.state() == State.PLANNED
                                && plan.approvedBy() == null
                                && !plan.madeBy().equals(actor))
                .change(before -> approved(before, actor));
        if (approved) {
            edits.audit(approve.ws(), now, approve.by(), List.of("replay.approve", Replay.textOf(approve.plan())));
        }
        return find(tables, approve.ws(), approve.plan());
    }

    private Replay.@Nullable Plan begin(Replay.Begin begin, long now) {
        boolean begun = row(
                        begin.ws(),
                        begin.plan(),
                        plan -> plan.state() == State.PLANNED
                                && plan.validUntil() > now
                                && isApproved(plan, begin.how()))
                .change(before -> begun(before, begin.how(), begin.by().actor()));
        if (begun) {
            edits.audit(begin.ws(), now, begin.by(), List.of("replay.apply", Replay.textOf(begin.plan())));
        }
        return find(tables, begin.ws(), begin.plan());
    }

    private static boolean isApproved(Replay.Plan plan, String how) {
        return plan.approvedBy() != null
                && (plan.approvedBy().isEmpty()
                        || plan.how() == null
                        || plan.how().equals(how));
    }

    private int drop(Replay.Drop drop) {
        if (row(0, drop.plan(), plan -> plan.state() == State.MAKING).plan() == null) {
            return 0;
        }
        drop.runs().forEach(run -> tables.planItems.remove(new Pair<>(drop.plan(), run)));
        return drop.runs().size();
    }

    private boolean settle(Replay.Settle settle) {
        String note = settle.items().isEmpty() ? null : "";
        boolean ours = row(
                        0,
                        settle.plan(),
                        plan -> plan.state() == State.APPLYING && settle.by().equals(plan.takenBy()))
                .change(before -> moved(
                        before,
                        before.state(),
                        note == null ? before.note() : note,
                        new Hold(before.takenBy(), before.takenUntil(), before.endedAt())));
        for (Replay.Item item : settle.items()) {
            var key = new Pair<>(settle.plan(), item.run());
            Replay.Item there = tables.planItems.get(key);
            if (there != null && there.fate() == Fate.PLANNED && (ours || item.fate() == Fate.APPLIED)) {
                tables.planItems.put(key, there.became(item.fate(), item.made(), item.note()));
            }
        }
        return ours;
    }

    private Replay.@Nullable Plan stop(Replay.Stop stop, long now) {
        boolean stopped = row(stop.ws(), stop.plan(), plan -> plan.state().code() <= State.APPLYING.code())
                .change(before -> ended(before, State.STOPPED, stop.by().reason(), now));
        if (stopped) {
            edits.audit(stop.ws(), now, stop.by(), List.of("replay.stop", Replay.textOf(stop.plan())));
        }
        return find(tables, stop.ws(), stop.plan());
    }

    private int delete(Replay.Delete delete) {
        Replay.Plan oldest = tables.plans.rows().values().stream()
                .filter(plan -> plan.madeAt() < delete.before() && plan.state() != State.APPLYING)
                .min(Comparator.comparingLong(Replay.Plan::madeAt))
                .orElse(null);
        if (oldest == null) {
            return 0;
        }
        List<Replay.Item> items =
                MemoryPlans.items(tables, oldest.id()).limit(delete.limit()).toList();
        items.forEach(item -> tables.planItems.remove(new Pair<>(oldest.id(), item.run())));
        if (items.isEmpty()) {
            tables.plans.remove(oldest.id());
            return 1;
        }
        return items.size();
    }

    private static Replay.Plan copy(Replay.Plan plan, State state, String counts, long validUntil) {
        return new Replay.Plan(
                plan.id(),
                plan.ws(),
                plan.madeBy(),
                plan.wish(),
                plan.input(),
                plan.madeAt(),
                validUntil,
                state,
                counts,
                plan.approvedBy(),
                plan.how(),
                plan.appliedBy(),
                plan.note(),
                plan.takenBy(),
                plan.takenUntil(),
                plan.endedAt());
    }

    private static Replay.Plan approved(Replay.Plan plan, String by) {
        return new Replay.Plan(
                plan.id(),
                plan.ws(),
                plan.madeBy(),
                plan.wish(),
                plan.input(),
                plan.madeAt(),
                plan.validUntil(),
                plan.state(),
                plan.counts(),
                by,
                plan.how(),
                plan.appliedBy(),
                plan.note(),
                plan.takenBy(),
                plan.takenUntil(),
                plan.endedAt());
    }

    private static Replay.Plan begun(Replay.Plan plan, String how, String by) {
        return new Replay.Plan(
                plan.id(),
                plan.ws(),
                plan.madeBy(),
                plan.wish(),
                plan.input(),
                plan.madeAt(),
                plan.validUntil(),
                State.APPLYING,
                plan.counts(),
                plan.approvedBy(),
                how,
                by,
                plan.note(),
                null,
                0,
                plan.endedAt());
    }

    private static Replay.Plan taken(Replay.Plan plan, @Nullable RunId by, long until) {
        return moved(plan, plan.state(), plan.note(), new Hold(by, until, plan.endedAt()));
    }

    private static Replay.Plan ended(Replay.Plan plan, State state, String note, long now) {
        return moved(plan, state, note, new Hold(null, 0, now));
    }

    private record Hold(@Nullable RunId by, long until, long endedAt) {}

    private static Replay.Plan moved(Replay.Plan plan, State state, String note, Hold hold) {
        return new Replay.Plan(
                plan.id(),
                plan.ws(),
                plan.madeBy(),
                plan.wish(),
                plan.input(),
                plan.madeAt(),
                plan.validUntil(),
                state,
                plan.counts(),
                plan.approvedBy(),
                plan.how(),
                plan.appliedBy(),
                note,
                hold.by(),
                hold.until(),
                hold.endedAt());
    }
}
