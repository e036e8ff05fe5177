package dev.semel.server.pages;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps of a run on one line of time. An attempt is recorded when it ends, so a bar reaches from whatever was
 * recorded before it to its own end.
 */
public final class Bars {
    /** Of the drawing, from the beginning of the run to its end. */
    public static final int WIDTH = 1_000;

    private static final int NARROWEST = 6;

    private final Instant from;
    private final long nanos;
    private final List<Row> rows = new ArrayList<>();
    private final Steps steps;

    public record Row(Doc step, List<Bar> bars) {}

    /** @param tone how it ended, for its colour; its label says the same in words */
    public record Bar(int x, int width, String tone, String label) {}

    private Bars(Instant from, Instant to, Steps steps) {
        this.steps = steps;
        this.from = from;
        this.nanos = Math.max(1, Duration.between(from, to).toNanos());
    }

    static Bars of(Doc run, Steps steps, Instant now) {
        Instant from = run.when("created_at");
        Instant to = run.when("ended_at");
        Bars bars = new Bars(from == null ? now : from, to == null ? now : to, steps);
        Instant before = bars.from;
        for (Doc step : steps.items()) {
            before = bars.add(step, before);
        }
        return bars;
    }

    private Instant add(Doc step, Instant before) {
        List<Bar> bars = new ArrayList<>();
        Instant at = before;
        List<Doc> attempts = step.list("attempts");
        for (Doc attempt : attempts) {
            Instant begin = earliest(attempt.when("started_at"), at);
            Instant end = attempt.when("ended_at");
            int x = place(begin);
            int right = end == null ? WIDTH : place(end);
            // What is in doubt is neither a success nor a failure, whatever its attempt saw.
            boolean doubted = step.text("status").equals("in_doubt") && attempt.equals(attempts.getLast());
            String outcome = doubted ? "unknown" : attempt.text("outcome");
            bars.add(new Bar(
                    Math.min(x, WIDTH - NARROWEST),
                    Math.max(NARROWEST, right - x),
                    Status.of(outcome).tone(),
                    "attempt " + attempt.text("n") + ": " + outcome));
            at = end == null ? at : end;
        }
        rows.add(new Row(step, bars));
        return at;
    }

    private static Instant earliest(@Nullable Instant begin, Instant before) {
        return begin == null ? before : begin;
    }

    private int place(Instant at) {
        long since = Duration.between(from, at).toNanos();
        return (int) Math.clamp(since / (double) nanos * WIDTH, 0, WIDTH);
    }

    public List<Row> rows() {
        return rows;
    }

    /** Which steps these are. */
    public Steps steps() {
        return steps;
    }

    public String length() {
        return Ago.span(Duration.ofNanos(nanos));
    }
}
