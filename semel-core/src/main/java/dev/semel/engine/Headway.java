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
 * Progress of a replay plan: how many of its runs started, ended and failed.
 * The executing worker reads all items once; after that it polls only runs that have not ended, a bounded number at a
 * time.
 */
final class Headway {
    private static final int LOOKED_AT = 1_000;
    private static final int FOR_EACH_FAILURE = 10;

    private final Set<RunId> open = new LinkedHashSet<>();
    private long applied;
    private long failed;
    private long ended;

    static Headway of(Reads reads, RunId plan) {
        Headway progress = new Headway();
        Plans.Wanted made = new Plans.Wanted(plan, 0, Replay.Fate.APPLIED);
        RunId after = null;
        List<Replay.Item> page;
        do {
            page = reads.plans().items(made, after, LOOKED_AT);
            progress.made(page);
            after = page.isEmpty() ? null : page.getLast().run();
        } while (page.size() == LOOKED_AT);
        return progress;
    }

    /** Adds processed items; those that were applied have runs. */
    void made(List<Replay.Item> items) {
        for (Replay.Item item : items) {
            if (item.fate() == Replay.Fate.APPLIED && item.made() != null && open.add(item.made())) {
                applied++;
            }
        }
    }

    /** Polls the runs that were polled least recently. */
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

    /** Returns why the plan must stop, or null to continue. */
    @Nullable
    String reasonToStop(Manner manner) {
        if (manner.canary() > 0 && applied <= manner.canary() && failed > 0) {
            return failed + " of the first " + manner.canary() + " runs failed";
        }
        return manner.stopAfter() > 0 && failed >= manner.stopAfter() ? failed + " of its runs failed" : null;
    }

    /** Number of runs that may start now: none while canary runs are still active. */
    int room(Manner manner, int most) {
        int limited = limitByFailures(manner, most);
        if (manner.canary() == 0 || applied > manner.canary()) {
            return limited;
        }
        long left = manner.canary() - applied;
        return left > 0 ? (int) Math.min(left, limited) : ended < applied ? 0 : limited;
    }

    /**
     * A plan that stops after failures limits its active runs; otherwise all would have started before the first
     * failure.
     */
    private int limitByFailures(Manner manner, int most) {
        if (manner.stopAfter() == 0) {
            return most;
        }
        long room = Math.max(Manner.MOST_UNDER_WAY, FOR_EACH_FAILURE * (long) manner.stopAfter()) - open.size();
        return Math.clamp(room, 0, most);
    }
}
