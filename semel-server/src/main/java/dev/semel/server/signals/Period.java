package dev.semel.server.signals;

import dev.semel.store.Counted;
import dev.semel.store.Figures;

/**
 * A reporting period rounded to whole minutes, or to whole hours where minutes were already aggregated. Responses state
 * the rounded period.
 *
 * @param grain minutes per data point
 */
public record Period(long since, long until, int grain) {
    private static final long HOUR = 60 * Counted.MINUTE;
    private static final int DAY_MINUTES = 1_440;

    public static Period of(long since, long until, long now) {
        long fine = (now - Figures.FINE.toNanos() / 1_000) / HOUR * HOUR;
        long from = since - Math.floorMod(since, since < fine ? HOUR : Counted.MINUTE);
        long step = until < fine ? HOUR : Counted.MINUTE;
        long to = until + Math.floorMod(-until, step);
        long hours = (to - from) / HOUR;
        return new Period(from, to, from >= fine && hours <= 3 ? 1 : hours <= 96 ? 60 : DAY_MINUTES);
    }

    public Figures.Range of(int workspace, String workflowId, String step) {
        return new Figures.Range(workspace, workflowId, step, since, until);
    }
}
