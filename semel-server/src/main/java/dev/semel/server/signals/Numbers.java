package dev.semel.server.signals;

import dev.semel.store.Figure;
import dev.semel.store.Figures;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The metrics of one workflow, or of all, in one period.
 *
 * @param counts by figure; an absent figure is zero
 * @param named writes that state their object
 * @param objects number of distinct objects among them
 * @param inDoubt effects in doubt now
 * @param oldestDoubt send time of the oldest effect in doubt; 0 if there is none
 */
public record Numbers(Map<Figure, Long> counts, long named, long objects, long inDoubt, long oldestDoubt) {
    public static final Numbers NONE = new Numbers(Map.of(), 0, 0, 0, 0);

    public long of(Figure figure) {
        return counts.getOrDefault(figure, 0L);
    }

    /** Requests with a key: fresh, repeated or in conflict. */
    public long keyedTriggers() {
        return of(Figure.KEYED) + of(Figure.REPLAYED) + of(Figure.CONFLICT);
    }

    public long triggers() {
        return keyedTriggers() + of(Figure.UNKEYED);
    }

    public double conflictRate() {
        return keyedTriggers() == 0 ? 0 : (double) of(Figure.CONFLICT) / keyedTriggers();
    }

    public long prevented() {
        return of(Figure.REPLAYED) + of(Figure.SUPPRESSED);
    }

    /** Writes per object, among writes that state their object. */
    public double ratio() {
        return objects == 0 ? 1 : (double) named / objects;
    }

    Numbers plus(Numbers other) {
        Map<Figure, Long> sums = new EnumMap<>(Figure.class);
        sums.putAll(counts);
        other.counts.forEach((figure, n) -> sums.merge(figure, n, Long::sum));
        long oldest = oldestDoubt == 0 || other.oldestDoubt == 0
                ? Math.max(oldestDoubt, other.oldestDoubt)
                : Math.min(oldestDoubt, other.oldestDoubt);
        return new Numbers(sums, named + other.named, objects + other.objects, inDoubt + other.inDoubt, oldest);
    }

    private static Numbers fromSum(Figures.Sum sum) {
        return new Numbers(Map.of(sum.figure(), sum.n()), 0, 0, 0, 0);
    }

    /** By workflow id. */
    public static Map<String, Numbers> byWorkflow(Figures figures, Figures.Range range) {
        Map<String, Numbers> all = new TreeMap<>();
        for (Figures.Sum sum : figures.sums(range, 1_440)) {
            all.merge(sum.workflowId(), fromSum(sum), Numbers::plus);
        }
        for (Figures.Written written : figures.written(range)) {
            Numbers more = new Numbers(Map.of(), written.writes(), written.objects(), 0, 0);
            all.merge(written.workflowId(), more, Numbers::plus);
        }
        for (Figures.Doubt doubt : figures.doubts(range.ws())) {
            if (range.workflowId().isEmpty() || range.workflowId().equals(doubt.workflowId())) {
                Numbers more = new Numbers(Map.of(), 0, 0, doubt.effects(), doubt.oldestAt());
                all.merge(doubt.workflowId(), more, Numbers::plus);
            }
        }
        return all;
    }

    /** By the start of each data point. */
    public static Map<Long, Numbers> series(List<Figures.Sum> sums) {
        Map<Long, Numbers> points = new TreeMap<>();
        for (Figures.Sum sum : sums) {
            points.merge(sum.minute(), fromSum(sum), Numbers::plus);
        }
        return points;
    }

    public static Numbers total(Map<String, Numbers> all) {
        return all.values().stream().reduce(NONE, Numbers::plus);
    }
}
