package dev.semel.server.pages;

import dev.semel.server.http.Inside;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a workflow wrote to people: sent, suppressed, failed or left out, and why. It is read off the timelines of the
 * newest runs, where the choice of channels is on record with its reasons.
 */
public record MessageLog(List<Line> lines, String next) {
    private static final int RUNS = 25;
    private static final String PLAN = ".plan";

    /** @param why in words: why it went there, or why it did not */
    public record Line(
            Doc run,
            String step,
            String channel,
            String status,
            String why,
            @Nullable Instant at) {}

    static MessageLog of(Visit visit, String workflow) throws Exception {
        String after = visit.asked("after");
        Doc runs = visit.get(
                workflow + "/runs", "limit=" + RUNS + (after.isEmpty() ? "" : "&after=" + Inside.encoded(after)));
        List<Line> lines = new ArrayList<>();
        for (Doc run : runs.items()) {
            Doc timeline = visit.maybe(Inside.path("v1", "runs", run.text("run_id"), "timeline"), "");
            lines.addAll(of(run, timeline.items()));
        }
        return new MessageLog(List.copyOf(lines), runs.text("next"));
    }

    static List<Line> of(Doc run, List<Doc> steps) {
        Map<String, Doc> byPath = new HashMap<>();
        steps.forEach(step -> byPath.put(step.text("path"), step));
        List<Line> lines = new ArrayList<>();
        for (Doc step : steps) {
            String path = step.text("path");
            if (!path.endsWith(PLAN) || step.at("result").list("legs").isEmpty()) {
                continue;
            }
            String message = path.substring(0, path.length() - PLAN.length());
            for (Doc leg : step.at("result").list("legs")) {
                for (Doc choice : leg.all()) {
                    // By an event each channel has an effect of its own; by one channel the step itself is the effect.
                    Doc sent = byPath.getOrDefault(
                            message + "." + choice.text("channel"), byPath.getOrDefault(message, Doc.NOTHING));
                    lines.add(line(run, message, choice, sent));
                }
            }
        }
        return lines;
    }

    private static Line line(Doc run, String message, Doc choice, Doc sent) {
        String state = choice.text("state");
        List<Doc> attempts = sent.list("attempts");
        Doc last = attempts.isEmpty() ? Doc.NOTHING : attempts.getLast();
        Instant at = last.when("ended_at") == null ? run.when("created_at") : last.when("ended_at");
        boolean tried = sent.has("status") && !(state.equals("skipped"));
        if (!tried) {
            return new Line(run, message, choice.text("channel"), "not_sent", choice.text("reason"), at);
        }
        return switch (sent.text("status")) {
            case "completed", "found", "already_done", "reused" ->
                new Line(run, message, choice.text("channel"), "sent", choice.text("reason"), at);
            case "suppressed" ->
                new Line(
                        run,
                        message,
                        choice.text("channel"),
                        "suppressed",
                        "the same was sent before, inside its time: key " + sent.text("effect_key"),
                        at);
            case "silent" ->
                new Line(
                        run,
                        message,
                        choice.text("channel"),
                        "not_sent",
                        "the run is a replay that sends no notification",
                        at);
            case "failed" ->
                new Line(
                        run,
                        message,
                        choice.text("channel"),
                        "failed",
                        last.at("error").text("code") + " " + last.at("error").text("message"),
                        at);
            case "in_doubt", "indeterminate" ->
                new Line(run, message, choice.text("channel"), "in_doubt", "it left, and its answer is lost", at);
            default -> new Line(run, message, choice.text("channel"), sent.text("status"), choice.text("reason"), at);
        };
    }
}
