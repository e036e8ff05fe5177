package dev.semel.server.monitoring;

import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The metrics of one workflow, or of all, in one period.
 *
 * @param counts by figure; an absent figure is zero
 * @param namedWrites writes that state their object
 * @param objects number of distinct objects among them
 * @param inDoubt effects in doubt now
 * @param oldestInDoubtAt send time of the oldest effect in doubt; 0 if there is none
 */
public record WorkflowMetrics(
        Map<MetricCounter, Long> counts, long namedWrites, long objects, long inDoubt, long oldestInDoubtAt) {
    public static final WorkflowMetrics NONE = new WorkflowMetrics(Map.of(), 0, 0, 0, 0);

    public long count(MetricCounter figure) {
        return counts.getOrDefault(figure, 0L);
    }

    /** Requests with a key: fresh, repeated or in conflict. */
    public long keyedTriggers() {
        return count(MetricCounter.KEYED) + count(MetricCounter.REPLAYED) + count(MetricCounter.CONFLICT);
    }

    public long triggers() {
        return keyedTriggers() + count(MetricCounter.UNKEYED);
    }

    public double conflictRate() {
        return keyedTriggers() == 0 ? 0 : (double) count(MetricCounter.CONFLICT) / keyedTriggers();
    }

    public long duplicatesPrevented() {
        return count(MetricCounter.REPLAYED) + count(MetricCounter.SUPPRESSED);
    }

    /** Writes per object, among writes that state their object. */
    public double writesPerObject() {
        return objects == 0 ? 1 : (double) namedWrites / objects;
    }

    WorkflowMetrics plus(WorkflowMetrics other) {
        Map<MetricCounter, Long> sums = new EnumMap<>(MetricCounter.class);
        sums.putAll(counts);
        other.counts.forEach((figure, n) -> sums.merge(figure, n, Long::sum));
        long oldest = oldestInDoubtAt == 0 || other.oldestInDoubtAt == 0
                ? Math.max(oldestInDoubtAt, other.oldestInDoubtAt)
                : Math.min(oldestInDoubtAt, other.oldestInDoubtAt);
        return new WorkflowMetrics(
                sums, namedWrites + other.namedWrites, objects + other.objects, inDoubt + other.inDoubt, oldest);
    }

    private static WorkflowMetrics fromSum(MetricQueries.CounterSum sum) {
        return new WorkflowMetrics(Map.of(sum.counter(), sum.count()), 0, 0, 0, 0);
    }

    /** By workflow id. */
    public static Map<String, WorkflowMetrics> byWorkflow(MetricQueries figures, MetricQueries.MetricRange range) {
        Map<String, WorkflowMetrics> all = new TreeMap<>();
        for (MetricQueries.CounterSum sum : figures.sums(range, 1_440)) {
            all.merge(sum.workflowId(), fromSum(sum), WorkflowMetrics::plus);
        }
        for (MetricQueries.WriteCounts written : figures.writeCounts(range)) {
            WorkflowMetrics more = new WorkflowMetrics(Map.of(), written.writes(), written.objects(), 0, 0);
            all.merge(written.workflowId(), more, WorkflowMetrics::plus);
        }
        for (MetricQueries.InDoubtCount doubt : figures.inDoubtCounts(range.ws())) {
            if (range.workflowId().isEmpty() || range.workflowId().equals(doubt.workflowId())) {
                WorkflowMetrics more = new WorkflowMetrics(Map.of(), 0, 0, doubt.effects(), doubt.oldestAt());
                all.merge(doubt.workflowId(), more, WorkflowMetrics::plus);
            }
        }
        return all;
    }

    /** By the start of each data point. */
    public static Map<Long, WorkflowMetrics> series(List<MetricQueries.CounterSum> sums) {
        Map<Long, WorkflowMetrics> points = new TreeMap<>();
        for (MetricQueries.CounterSum sum : sums) {
            points.merge(sum.minute(), fromSum(sum), WorkflowMetrics::plus);
        }
        return points;
    }

    public static WorkflowMetrics total(Map<String, WorkflowMetrics> all) {
        return all.values().stream().reduce(NONE, WorkflowMetrics::plus);
    }
}
