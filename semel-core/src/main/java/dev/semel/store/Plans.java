package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Questions about plans of safe replays. */
public interface Plans {
    Replay.@Nullable Plan plan(int ws, RunId id);

    /** Newest first. */
    List<Replay.Plan> page(int ws, @Nullable RunId before, int limit);

    /**
     * Items in the order of their runs.
     *
     * @param actions only items with one of these actions, one bit each; 0 for all
     * @param fate only items with this fate; null for all
     */
    List<Replay.Item> items(Wanted wanted, @Nullable RunId after, int limit);

    record Wanted(RunId plan, int actions, Replay.@Nullable Fate fate) {}

    /** How many items have which fate, and where their new runs are by now. */
    List<Count> progress(RunId plan);

    /** @param state of the new runs; null where there is none, or none any more */
    record Count(Replay.Fate fate, @Nullable RunState state, long items) {}

    /** Which of these runs have ended, and how. */
    List<Ended> ended(List<RunId> runs);

    record Ended(RunId run, RunState state) {}

    /** The plan that is being applied and was taken the longest ago, by whomever; null for none. */
    Replay.@Nullable Plan applying();

    /** Plans that are being applied and are free by then, or this worker's; those that wait the longest first. */
    List<Replay.Plan> free(RunId worker, long now, int limit);

    /** Whether a plan was made before then. */
    boolean hasPlansBefore(long time);
}
