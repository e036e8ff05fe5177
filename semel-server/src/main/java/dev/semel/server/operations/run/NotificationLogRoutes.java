package dev.semel.server.operations.run;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunTimelineJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/workflows/{id}/log` from the journals of the newest runs, which record every choice of channel. */
public record NotificationLogRoutes(SemelRuntime semel, RunRoutes runs) {
    /** The maximum number of runs per page; the server reads one journal per run. */
    private static final int MAX_RUNS = 50;

    private static final String PLAN = ".plan";

    public ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int limit = Math.min(paging.limit(), MAX_RUNS);
        String workflow = StoreReader.workflowId(semel, request.principal().workspace(), request.parameter("id"));
        var filter = new StoreQueries.RunFilter(
                request.principal().workspace(), workflow, null, null, false, 0, paging.afterId(), limit, null);
        List<DatabaseRows.RunRow> page = StoreReader.read(semel, reads -> reads.runs(filter));
        ObjectNode out = RunJsonRenderer.newObject();
        ArrayNode items = out.putArray("items");
        for (DatabaseRows.RunRow listed : page) {
            // The list query omits entries that were recorded when the run ended; the single run has them.
            DatabaseRows.RunRow run = semel.view(reads -> reads.run(listed.ws(), listed.id()));
            if (run != null) {
                addMessages(
                        items,
                        run,
                        ViewJson.of(runs.timelineOf(run, RunTimelineJsonRenderer.StepRange.ALL))
                                .path("items"));
            }
        }
        out.put("runs", page.size());
        return RunJsonRenderer.ok(out.put(
                "next",
                page.size() < limit
                        ? null
                        : PagingParameters.cursor(page.getLast().id())));
    }

    static void addMessages(ArrayNode out, DatabaseRows.RunRow run, JsonNode steps) {
        Map<String, JsonNode> byPath = new HashMap<>();
        steps.forEach(step -> byPath.put(step.path("path").asString(""), step));
        for (JsonNode step : steps) {
            String path = step.path("path").asString("");
            if (!path.endsWith(PLAN)) {
                continue;
            }
            String message = path.substring(0, path.length() - PLAN.length());
            for (JsonNode leg : step.path("result").path("routes")) {
                for (JsonNode choice : leg) {
                    // With an event each channel has its own effect; with one channel the step itself is the effect.
                    String channel = choice.path("channel").asString("");
                    JsonNode sent = byPath.getOrDefault(
                            message + "." + channel, byPath.getOrDefault(message, MissingNode.getInstance()));
                    out.add(line(run, message, choice, sent));
                }
            }
        }
    }

    private static ObjectNode line(DatabaseRows.RunRow run, String message, JsonNode choice, JsonNode sent) {
        JsonNode attempts = sent.path("attempts");
        JsonNode last = attempts.isEmpty() ? MissingNode.getInstance() : attempts.get(attempts.size() - 1);
        boolean tried = sent.path("status").isString()
                && !choice.path("state").asString("").equals("skipped");
        String status = tried ? statusOf(sent.path("status").stringValue()) : "not_sent";
        return RunJsonRenderer.newObject()
                .put("at", at(run, last))
                .put("step", message)
                .put("channel", choice.path("channel").asString(""))
                .put("status", status)
                .put("reason", because(status, choice, sent, last))
                .put("run_id", run.runIdText());
    }

    private static @Nullable String at(DatabaseRows.RunRow run, JsonNode last) {
        return last.path("ended_at").isString()
                ? last.path("ended_at").stringValue()
                : RunJsonRenderer.formatTime(run.createdAt());
    }

    private static String statusOf(String status) {
        return switch (status) {
            case "completed", "found", "already_done", "reused", "done_not_recorded" -> "sent";
            case "in_doubt", "indeterminate" -> "in_doubt";
            case "silent" -> "not_sent";
            default -> status;
        };
    }

    /** Explains the status to a user. */
    private static String because(String status, JsonNode choice, JsonNode sent, JsonNode last) {
        return switch (status) {
            case "suppressed" ->
                "the same message was sent before, within the window of its key "
                        + sent.path("effect_key").asString("");
            case "failed" ->
                (last.path("error").path("code").asString("") + " "
                                + last.path("error").path("message").asString(""))
                        .strip();
            case "in_doubt" -> "the message was sent and the response was lost";
            case "not_sent" ->
                sent.path("status").asString("").equals("silent")
                        ? "the run is a replay that sends no notification"
                        : choice.path("reason").asString("");
            default -> choice.path("reason").asString("");
        };
    }
}
