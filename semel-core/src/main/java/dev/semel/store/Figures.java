package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Questions about what was counted. A workflow id that is empty means all workflows of the workspace. */
public interface Figures {
    /** So long counts are told by the minute; older ones by the hour. */
    Duration FINE = Duration.ofHours(3);

    /**
     * What is asked about: a time from one moment up to another, in microseconds.
     *
     * @param step the name of a step; empty for all of them and for what belongs to none
     */
    record Range(int ws, String workflowId, String step, long since, long until) {
        public Range(int ws, String workflowId, long since, long until) {
            this(ws, workflowId, "", since, until);
        }
    }

    /**
     * Sums by workflow, figure, step and time, in the order of their time. Whole minutes of the range; what is gathered by
     * the hour counts where its hour begins.
     *
     * @param grain minutes that are told as one
     */
    List<Sum> sums(Range range, int grain);

    /** @param minute the first one of those that it is the sum of */
    record Sum(String workflowId, Figure figure, String step, long minute, long n) {}

    /** What stands behind a figure, newest first. */
    List<Counted.Fact> facts(Range range, Figure figure, Behind behind, int limit);

    /** Where a list goes on: behind this one. */
    record Behind(long at, RunId run, String digest) {
        public static final Behind START = new Behind(Long.MAX_VALUE, RunId.NEWEST, "");
    }

    /** How many writes named their object, and how many objects those are, by workflow. */
    List<Written> written(Range range);

    record Written(String workflowId, long writes, long objects) {}

    /** Objects with more writes than that, the most written first. */
    List<Thing> objects(Range range, long more, int limit);

    record Thing(String workflowId, String object, long writes, long firstAt, long lastAt) {}

    /** Runs whose failure fell into this time, whenever they began: the first so many that failed are counted. */
    Failures failures(Range range, int most);

    /**
     * @param more whether there may be more than those that were counted
     * @param first the one that failed first; null where none did
     * @param errors by code and step, the most frequent first; empty where an end says neither
     */
    record Failures(long runs, boolean more, @Nullable RunId first, List<Failure> errors) {}

    record Failure(String code, String step, long runs) {}

    /**
     * Replayed requests of this time by the run they met, among these rows of requests; rows that were gathered count as
     * often as they came. The step of the range is not looked at.
     */
    Met met(Range range, Among among);

    /**
     * Which rows of a list are looked at, the newest first.
     *
     * @param from the last of them at most
     * @param before only those behind that one
     */
    record Among(RunId from, RunId before, int looked) {
        /** Those that were made in this time, by clocks that are not wrong by more than two hours. */
        public static Among of(Range range, int looked) {
            return new Among(RunId.madeSince(range.since()), RunId.madeUntil(range.until()), looked);
        }

        public Among behind(RunId reached) {
            return new Among(from, reached, looked);
        }
    }

    /** @param next behind which row to go on; null at the end */
    record Met(List<Replayed> runs, @Nullable RunId next) {}

    /** @param input null where it is longer than {@link #LONGEST_INPUT}, and to be read alone */
    record Replayed(
            RunId run,
            long times,
            String workflowId,
            int version,
            @Nullable String input) {}

    /** In characters: lists of inputs must fit into memory whatever the runs hold. */
    int LONGEST_INPUT = 16_384;

    /** Effects in doubt whose runs wait for a decision, by workflow. */
    List<Doubt> doubts(int ws);

    /** @param oldestAt when the first of them was sent first */
    record Doubt(String workflowId, long effects, long oldestAt) {}

    /** The newest runs of a workflow as they were asked for, newest first. */
    List<Arrival> arrivals(int ws, String workflowId, RunId before, int limit);

    /**
     * A trigger that got a run.
     *
     * @param fields keyed hashes of what makes it the same
     * @param endedAt 0 where it has not ended
     */
    record Arrival(
            RunId run, int door, String actor, @Nullable String key, byte[] fields, long at, long endedAt) {}

    /** Sums over all workspaces, from one minute up to another. */
    List<Total> totals(long from, long until);

    record Total(int ws, String workflowId, Figure figure, String step, long n) {}

    /** Whether there is something to do for {@link Edit.TidyFigures}. */
    boolean isUntidy(Edit.TidyFigures tidy);
}
