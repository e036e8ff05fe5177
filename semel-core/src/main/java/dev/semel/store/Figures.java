package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queries for monitoring counters and the facts behind them. An empty workflow id means all workflows of the workspace.
 */
public interface Figures {
    /** Younger counters are kept by the minute, older ones by the hour. */
    Duration FINE = Duration.ofHours(3);

    /**
     * A time range in microseconds, with the workflow and step that a metric query is limited to.
     *
     * @param step the name of a step; empty for all steps and for counters without a step
     */
    record Range(int ws, String workflowId, String step, long since, long until) {
        public Range(int ws, String workflowId, long since, long until) {
            this(ws, workflowId, "", since, until);
        }
    }

    /**
     * Sums by workflow, counter, step and time, oldest first. Only whole minutes of the range count; an hourly counter
     * counts at the start of its hour.
     *
     * @param grain minutes per sum
     */
    List<Sum> sums(Range range, int grain);

    /**
     * The sum of one counter over a few minutes.
     *
     * @param minute the first minute of the sum
     */
    record Sum(String workflowId, Figure figure, String step, long minute, long n) {}

    /** The single occurrences behind a counter, newest first. */
    List<Counted.Fact> facts(Range range, Figure figure, Behind behind, int limit);

    /** Position in a list of facts: the next page starts after it. */
    record Behind(long at, RunId run, String digest) {
        public static final Behind START = new Behind(Long.MAX_VALUE, RunId.NEWEST, "");
    }

    /** Per workflow: the number of writes that name their object, and the number of distinct objects. */
    List<Written> written(Range range);

    /** How many writes of a workflow name an object, and how many objects there are. */
    record Written(String workflowId, long writes, long objects) {}

    /** Objects with more than {@code more} writes, most written first. */
    List<Thing> objects(Range range, long more, int limit);

    /** An external object and how often it was written. */
    record Thing(String workflowId, String object, long writes, long firstAt, long lastAt) {}

    /** Runs that failed in this range, whenever they started; counts at most {@code most} of them, earliest first. */
    Failures failures(Range range, int most);

    /**
     * How many runs failed in a time range, grouped by error.
     *
     * @param more whether there may be more than were counted
     * @param first the run that failed first; null if none did
     * @param errors by code and step, the most frequent first; both are empty if the run recorded none
     */
    record Failures(long runs, boolean more, @Nullable RunId first, List<Failure> errors) {}

    /** Failed runs with the same error code and step. */
    record Failure(String code, String step, long runs) {}

    /**
     * Replayed requests of this range, grouped by the run they matched. A grouped row counts all its requests. Ignores
     * the step of the range.
     */
    Met met(Range range, Among among);

    /**
     * Which rows of the request list to scan, newest first.
     *
     * @param from the oldest row to scan
     * @param before only rows older than this one
     */
    record Among(RunId from, RunId before, int looked) {
        /** Rows created in this range, by clocks that are wrong by two hours at most. */
        public static Among of(Range range, int looked) {
            return new Among(RunId.madeSince(range.since()), RunId.madeUntil(range.until()), looked);
        }

        public Among behind(RunId reached) {
            return new Among(from, reached, looked);
        }
    }

    /**
     * Runs that got replayed requests, one page.
     *
     * @param next the row to continue after; null at the end
     */
    record Met(List<Replayed> runs, @Nullable RunId next) {}

    /**
     * A run and how many replayed requests it got.
     *
     * @param input null if it is longer than {@link #LONGEST_INPUT}; read it separately
     */
    record Replayed(
            RunId run,
            long times,
            String workflowId,
            int version,
            @Nullable String input) {}

    /** In characters. It bounds the memory that a list of inputs needs. */
    int LONGEST_INPUT = 16_384;

    /** Per workflow: effects in doubt whose runs wait for a decision. */
    List<Doubt> doubts(int ws);

    /**
     * How many effects of a workflow are in doubt.
     *
     * @param oldestAt when the oldest of them was first sent
     */
    record Doubt(String workflowId, long effects, long oldestAt) {}

    /** The newest runs of a workflow with the triggers that started them, newest first. */
    List<Arrival> arrivals(int ws, String workflowId, RunId before, int limit);

    /**
     * A trigger that started a run.
     *
     * @param fields keyed hashes of the fingerprint fields
     * @param endedAt 0 if the run has not ended
     */
    record Arrival(
            RunId run, int door, String actor, @Nullable String key, byte[] fields, long at, long endedAt) {}

    /** Sums over all workspaces, from one minute up to another. */
    List<Total> totals(long from, long until);

    /** The sum of one counter over all of a period, by workspace, workflow and step. */
    record Total(int ws, String workflowId, Figure figure, String step, long n) {}

    /** Whether {@link Edit.TidyFigures} would change anything. */
    boolean isUntidy(Edit.TidyFigures tidy);
}
