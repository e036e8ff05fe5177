package dev.semel.server.operations.monitoring;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.monitoring.MetricPeriod;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunListFilter;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricQueries;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The query of a metrics request: `?since=&until=&workflow=&step=`. A time is an age (`24h`) or RFC 3339.
 *
 * @param workflowId empty for all workflows
 */
record MetricQuery(
        int workspace, String workflowId, String step, MetricPeriod period, Map<String, String> workflowNames) {
    private static final long DAY = 86_400_000_000L;
    private static final long LONGEST = 400 * DAY;

    static MetricQuery of(SemelRuntime semel, ServerHttpRequest request) {
        int workspace = request.principal().workspace();
        long now = StoreReader.now(semel);
        String requested = request.query("workflow");
        String workflowId = requested == null
                ? ""
                : StoreReader.workflow(semel, workspace, requested).published().workflowId();
        long since = parseTime(request.query("since"), now, now - DAY);
        long until = parseTime(request.query("until"), now, now);
        if (since >= until || until - since > LONGEST) {
            throw ApiErrors.invalidQuery("`since` must be before `until`, and at most 400 days earlier");
        }
        String step = request.query("step");
        return new MetricQuery(
                workspace,
                workflowId,
                step == null ? "" : step,
                MetricPeriod.of(since, until, now),
                workflowNames(semel, workspace));
    }

    private static Map<String, String> workflowNames(SemelRuntime semel, int workspace) {
        return StoreReader.read(semel, reads -> reads.workflows(workspace)).stream()
                .collect(Collectors.toMap(DatabaseRows.WorkflowRow::workflowId, DatabaseRows.WorkflowRow::name));
    }

    private static long parseTime(@Nullable String text, long now, long fallback) {
        if (text == null) {
            return fallback;
        }
        if (DurationFormat.parse(text).isPresent()) {
            return now - RunListFilter.parseAge(text);
        }
        try {
            return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(text));
        } catch (DateTimeException | ArithmeticException e) {
            throw ApiErrors.invalidQuery(
                    "`since` and `until` must be ages like 24h or times like 2026-11-16T09:00:00Z");
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
        String link = "/v1/" + path + (path.contains("?") ? "&" : "?") + "since="
                + escaped(RunJsonRenderer.formatTime(period.since())) + "&until="
                + escaped(RunJsonRenderer.formatTime(period.until()));
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
