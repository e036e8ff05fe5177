package dev.semel.server.dashboard.run;

import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.DashboardTimeFormatter;
import dev.semel.server.dashboard.page.StatusLabel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One bar per attempt. An attempt is recorded when it ends, so a bar starts at the previous record. */
public final class StepTimelineChart {
    /** The width of the chart, from the start of the run to its end. */
    public static final int WIDTH = 1_000;

    private static final int MIN_BAR_WIDTH = 6;

    private final Instant from;
    private final long nanos;
    private final List<Row> rows = new ArrayList<>();
    private final RunTimelineStepRange steps;

    public record Row(DashboardTemplateJsonAccessor step, List<Bar> bars) {
        /** The runs that the event of a notification started. */
        public List<DashboardTemplateJsonAccessor> startedRuns() {
            return ofEvent("runs");
        }

        /** The subscribed workflows that rejected the event of a notification. */
        public List<DashboardTemplateJsonAccessor> rejectedWorkflows() {
            return ofEvent("rejected");
        }

        private List<DashboardTemplateJsonAccessor> ofEvent(String member) {
            return step.text("kind").equals("event") ? step.at("result").list(member) : List.of();
        }
    }

    /**
     * One attempt.
     *
     * @param tone colour class of the outcome; the label says the same in words
     */
    public record Bar(int x, int width, String tone, String label) {}

    private StepTimelineChart(Instant from, Instant to, RunTimelineStepRange steps) {
        this.steps = steps;
        this.from = from;
        this.nanos = Math.max(1, Duration.between(from, to).toNanos());
    }

    static StepTimelineChart of(DashboardTemplateJsonAccessor run, RunTimelineStepRange steps, Instant now) {
        Instant from = run.time("created_at");
        Instant to = run.time("ended_at");
        StepTimelineChart bars = new StepTimelineChart(from == null ? now : from, to == null ? now : to, steps);
        Instant before = bars.from;
        for (DashboardTemplateJsonAccessor step : steps.items()) {
            before = bars.add(step, before);
        }
        return bars;
    }

    private Instant add(DashboardTemplateJsonAccessor step, Instant before) {
        List<Bar> bars = new ArrayList<>();
        Instant at = before;
        List<DashboardTemplateJsonAccessor> attempts = step.list("attempts");
        for (DashboardTemplateJsonAccessor attempt : attempts) {
            Instant begin = startOf(attempt.time("started_at"), at);
            Instant end = attempt.time("ended_at");
            int x = position(begin);
            int right = end == null ? WIDTH : position(end);
            // An effect in doubt is shown neither as success nor as failure, whatever its last attempt reported.
            boolean inDoubt = step.text("status").equals("in_doubt") && attempt.equals(attempts.getLast());
            String outcome = inDoubt ? "unknown" : attempt.text("outcome");
            bars.add(new Bar(
                    Math.min(x, WIDTH - MIN_BAR_WIDTH),
                    Math.max(MIN_BAR_WIDTH, right - x),
                    StatusLabel.of(outcome).tone(),
                    "attempt " + attempt.text("n") + ": " + outcome));
            at = end == null ? at : end;
        }
        rows.add(new Row(step, bars));
        return at;
    }

    private static Instant startOf(@Nullable Instant begin, Instant before) {
        return begin == null ? before : begin;
    }

    private int position(Instant at) {
        long since = Duration.between(from, at).toNanos();
        return (int) Math.clamp(since / (double) nanos * WIDTH, 0, WIDTH);
    }

    public List<Row> rows() {
        return rows;
    }

    public RunTimelineStepRange steps() {
        return steps;
    }

    public String duration() {
        return DashboardTimeFormatter.duration(Duration.ofNanos(nanos));
    }
}
