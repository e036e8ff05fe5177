package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An empty workflow id means all workflows of the workspace. */
public interface MetricQueries {
    /** Younger counters are kept by the minute, older ones by the hour. */
    Duration MINUTE_RESOLUTION = Duration.ofHours(3);

    /** Times are microseconds. {@code step}: empty for all steps and for counters without a step. */
    record MetricRange(int ws, String workflowId, String step, long since, long until) {
        public MetricRange(int ws, String workflowId, long since, long until) {
            this(ws, workflowId, "", since, until);
        }
    }

    /** Oldest first. Only whole minutes count, an hourly counter at its start. {@code grain}: minutes per sum. */
    List<CounterSum> sums(MetricRange range, int grain);

    /** @param minute the first minute of the sum */
    record CounterSum(String workflowId, MetricCounter counter, String step, long minute, long count) {}

    /** The single occurrences behind a counter, newest first. */
    List<MetricUpdateCollector.MetricFact> facts(MetricRange range, MetricCounter figure, FactCursor behind, int limit);

    /** Position in a list of facts: the next page starts after it. */
    record FactCursor(long at, RunId run, String digest) {
        public static final FactCursor START = new FactCursor(Long.MAX_VALUE, RunId.MAX, "");
    }

    /** Per workflow: the number of writes that name their object, and the number of distinct objects. */
    List<WriteCounts> writeCounts(MetricRange range);

    record WriteCounts(String workflowId, long writes, long objects) {}

    /** Objects with more than {@code more} writes, most written first. */
    List<ObjectWrites> mostWrittenObjects(MetricRange range, long more, int limit);

    record ObjectWrites(String workflowId, String object, long writes, long firstAt, long lastAt) {}

    /** Runs that failed in this range, whenever they started; counts at most {@code most} of them, earliest first. */
    FailureSummary failures(MetricRange range, int most);

    /**
     * @param more whether there may be more than were counted
     * @param firstRun the run that failed first; null if none did
     * @param errors by code and step, the most frequent first; both are empty if the run recorded none
     */
    record FailureSummary(long runs, boolean more, @Nullable RunId firstRun, List<FailureGroup> errors) {}

    record FailureGroup(String code, String step, long runs) {}

    /** Groups them by the run they matched. A grouped row counts all its requests. Ignores the step of the range. */
    ReplayedPage replayedRuns(MetricRange range, RequestScan among);

    /**
     * @param from the oldest row to scan
     * @param before only rows older than this one
     */
    record RequestScan(RunId from, RunId before, int limit) {
        /** Rows created in this range, by clocks that are wrong by two hours at most. */
        public static RequestScan of(MetricRange range, int looked) {
            return new RequestScan(RunId.lowerBoundAt(range.since()), RunId.upperBoundAt(range.until()), looked);
        }

        public RequestScan continueAfter(RunId reached) {
            return new RequestScan(from, reached, limit);
        }
    }

    /** @param next the row to continue after; null at the end */
    record ReplayedPage(List<ReplayedRun> runs, @Nullable RunId next) {}

    /** @param input null if it is longer than {@link #MAX_INPUT_LENGTH}; read it separately */
    record ReplayedRun(
            RunId run,
            long requests,
            String workflowId,
            int version,
            @Nullable String input) {}

    /** In characters. It bounds the memory that a list of inputs needs. */
    int MAX_INPUT_LENGTH = 16_384;

    /** Per workflow: effects in doubt whose runs wait for a decision. */
    List<InDoubtCount> inDoubtCounts(int ws);

    /** @param oldestAt when the oldest of them was first sent */
    record InDoubtCount(String workflowId, long effects, long oldestAt) {}

    /** The newest runs of a workflow with the triggers that started them, newest first. */
    List<AdmittedTrigger> admittedTriggers(int ws, String workflowId, RunId before, int limit);

    /**
     * @param fields keyed hashes of the fingerprint fields
     * @param endedAt 0 if the run has not ended
     */
    record AdmittedTrigger(
            RunId run,
            int triggerSource,
            String actor,
            @Nullable String key,
            byte[] fields,
            long at,
            long endedAt) {}

    /** Sums over all workspaces, from one minute up to another. */
    List<CounterTotal> totals(long from, long until);

    /** The sum of one counter over all of a period, by workspace, workflow and step. */
    record CounterTotal(int ws, String workflowId, MetricCounter counter, String step, long count) {}

    /** Whether {@link StoreWriteCommand.CompactMetrics} would change anything. */
    boolean needsCompaction(StoreWriteCommand.CompactMetrics tidy);

    /** Runs with an unknown outcome that stop to be safe to send again between two times, soonest first. */
    List<DatabaseRows.ExpiringResend> expiringResends(int ws, String workflowId, long after, long until, int limit);

    /** How many runs wait for a decision because their re-send stopped to be safe at this time or later. */
    long lostResends(int ws, String workflowId, long since);
}
