package dev.semel.server.monitoring;

import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;

/**
 * A reporting period rounded to whole minutes, or to whole hours where minutes were already aggregated. Responses state
 * the rounded period.
 *
 * @param grain minutes per data point
 */
public record MetricPeriod(long since, long until, int grain) {
    private static final long HOUR = 60 * MetricUpdateCollector.MICROS_PER_MINUTE;
    private static final int DAY_MINUTES = 1_440;

    public static MetricPeriod of(long since, long until, long now) {
        long fine = (now - MetricQueries.MINUTE_RESOLUTION.toNanos() / 1_000) / HOUR * HOUR;
        long from = since - Math.floorMod(since, since < fine ? HOUR : MetricUpdateCollector.MICROS_PER_MINUTE);
        long step = until < fine ? HOUR : MetricUpdateCollector.MICROS_PER_MINUTE;
        long to = until + Math.floorMod(-until, step);
        long hours = (to - from) / HOUR;
        return new MetricPeriod(from, to, from >= fine && hours <= 3 ? 1 : hours <= 96 ? 60 : DAY_MINUTES);
    }

    public MetricQueries.MetricRange of(int workspace, String workflowId, String step) {
        return new MetricQueries.MetricRange(workspace, workflowId, step, since, until);
    }
}
