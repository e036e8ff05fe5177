package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.monitoring.MetricPeriod;
import dev.semel.store.MetricQueries;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The query of a metrics request: `?since=&until=&workflow=&step=`. A time is an age (`24h`) or RFC 3339.
 *
 * @param workflowId empty for all workflows
 */
record MetricQuery(int workspace, String workflowId, String step, MetricPeriod period, Map<String, String> workflowNames) {
    private static final long DAY = 86_400_000_000L;
    private static final long LONGEST = 400 * DAY;

    static MetricQuery of(SemelRuntime semel, HttpRequest request) {
        int workspace = request.principal().workspace();
        Long read = semel.view(reads -> reads.now());
        long now = read == null ? 0 : read;
        String requested = request.query("workflow");
        String workflowId = "";
        if (requested != null) {
            CurrentWorkflow workflow = semel.workflow(workspace, requested);
            if (workflow == null) {
                throw TriggerRoutes.unknownWorkflow();
            }
            workflowId = workflow.published().workflowId();
        }
        long since = parseTime(request.query("since"), now, now - DAY);
        long until = parseTime(request.query("until"), now, now);
        if (since >= until || until - since > LONGEST) {
            throw PagingParameters.invalidQuery("since must be before until, by at most 400 days");
        }
        String step = request.query("step");
        return new MetricQuery(
                workspace, workflowId, step == null ? "" : step, MetricPeriod.of(since, until, now), workflowNames(semel, workspace));
    }

    private static Map<String, String> workflowNames(SemelRuntime semel, int workspace) {
        List<StoredRows.WorkflowRow> workflows = semel.view(reads -> reads.workflows(workspace));
        Map<String, String> names = new HashMap<>();
        if (workflows != null) {
            workflows.forEach(workflow -> names.put(workflow.workflowId(), workflow.name()));
        }
        return names;
    }

    private static long parseTime(@Nullable String text, long now, long fallback) {
        if (text == null) {
            return fallback;
        }
        if (!text.isEmpty() && Character.isDigit(text.charAt(0)) && text.length() <= 7) {
            return now - RunRoutes.RunListFilter.parseAge(text);
        }
        try {
            return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(text));
        } catch (DateTimeException | ArithmeticException e) {
            throw PagingParameters.invalidQuery("since and until must be ages like 24h or times like 2026-11-16T09:00:00Z");
        }
    }

    MetricQueries.MetricRange range() {
        return period.of(workspace, workflowId, step);
    }

    String workflowName(String id) {
        return workflowNames.getOrDefault(id, id);
    }

    /** The link to the rows behind a number, for the same period and workflow. */
    String listLink(String path, String of) {
        String link = "/v1/" + path + (path.contains("?") ? "&" : "?") + "since=" + escaped(JsonViews.formatTime(period.since()))
                + "&until=" + escaped(JsonViews.formatTime(period.until()));
        if (!of.isEmpty()) {
            link += "&workflow=" + escaped(workflowName(of));
        }
        return step.isEmpty() ? link : link + "&step=" + escaped(step);
    }

    /** The link to a list that has a filter `q` and no period. */
    String filterLink(String path, String word, String of) {
        return "/v1/" + path + "?q=" + escaped(of.isEmpty() ? word : word + " workflow:" + workflowName(of));
    }

    static String escaped(@Nullable String text) {
        return URLEncoder.encode(String.valueOf(text), StandardCharsets.UTF_8);
    }
}
