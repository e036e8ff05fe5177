package dev.semel.engine;

import dev.semel.replay.Manner;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Replay;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How far a plan is, by the runs that it made, as the worker knows it that sees to it. All of its items are looked at
 * once, when the plan is taken; from then on only runs that were not seen to have ended, and a stated number of those.
 */
final class Headway {
    private static final int LOOKED_AT = 1_000;
    private static final int FOR_EACH_FAILURE = 10;

    private final Set<RunId> open = new LinkedHashSet<>();
    private long applied;
    private long failed;
    private long ended;

    static Headway of(Reads reads, RunId plan) {
        Headway headway = new Headway();
        Plans.Wanted made = new Plans.Wanted(plan, 0, Replay.Fate.APPLIED);
        RunId after = null;
        List<Replay.Item> page;
        do {
            page = reads.plans().items(made, after, LOOKED_AT);
            headway.made(page);
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == LOOKED_AT);
        return headway;
    }

    /** These items were seen to; those of them that were applied have runs. */
    void made(List<Replay.Item> items) {
        for (Replay.Item item : items) {
            if (item.fate() == Replay.Fate.APPLIED && item.made() != null && open.add(item.made())) {
                applied++;
            }
        }
    }

    /** Asks for those that were not asked for the longest. */
    void look(Reads reads) {
        Set<RunId> some = new LinkedHashSet<>(open.stream().limit(LOOKED_AT).toList());
        for (Plans.Ended one : reads.plans().ended(List.copyOf(some))) {
            open.remove(one.run());
            some.remove(one.run());
            ended++;
            failed += one.state() == RunState.FAILED || one.state() == RunState.CANCELLED ? 1 : 0;
        }
        if (some.size() < open.size()) {
            some.forEach(open::remove);
            open.addAll(some);
        }
    }

    /** Null: go on. */
    @Nullable
    String reasonToStop(Manner manner) {
        if (manner.canary() > 0 && applied <= manner.canary() && failed > 0) {
            return failed + " of the first " + manner.canary() + " runs failed";
        }
        return manner.stopAfter() > 0 && failed >= manner.stopAfter() ? failed + " of its runs failed" : null;
    }

    /** How many runs may start now: none while those that go first have not all ended. */
    int room(Manner manner, int most) {
        int under = under(manner, most);
        if (manner.canary() == 0 || applied > manner.canary()) {
            return under;
        }
        long left = manner.canary() - applied;
        return left > 0 ? (int) Math.min(left, under) : ended < applied ? 0 : under;
    }

    /** Who stops after failures has only so many runs under way, or all had started before the first of them failed. */
    private int under(Manner manner, int most) {
        if (manner.stopAfter() == 0) {
            return most;
        }
        long room = Math.max(Manner.MOST_UNDER_WAY, FOR_EACH_FAILURE * (long) manner.stopAfter()) - open.size();
        return Math.clamp(room, 0, most);
    }
}
