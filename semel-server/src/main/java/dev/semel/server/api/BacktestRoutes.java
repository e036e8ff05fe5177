package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.KeyPolicy;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.monitoring.IdempotencyAdvisor;
import dev.semel.server.monitoring.WindowBacktest;
import dev.semel.store.MetricUpdates;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.StoreWrite;
import dev.semel.definition.CurrentWorkflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `POST /v1/backtests`: counts what other idempotency windows would have done with a workflow's recorded
 * traffic, or with the messages of one step. It changes nothing and returns only numbers.
 */
final class BacktestRoutes {
    private static final int RUNS = 10_000;
    private static final int REQUESTS = 50_000;
    private static final int PAGE = 1_000;
    private static final int MOST_WINDOWS = 12;

    private final SemelRuntime semel;

    BacktestRoutes(SemelRuntime semel) {
        this.semel = semel;
    }

    HttpResponse run(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        int workspace = request.principal().workspace();
        String name = body.path("workflow").isString() ? body.path("workflow").stringValue() : "";
        CurrentWorkflow workflow = name.isEmpty() ? null : semel.workflow(workspace, name);
        if (workflow == null) {
            throw TriggerRoutes.unknownWorkflow();
        }
        List<Duration> windows = windows(body.path("windows"));
        String step = body.path("step").isString() ? body.path("step").stringValue() : "";
        String id = workflow.published().workflowId();
        List<WindowBacktest.RecordedRequest> traffic = step.isEmpty() ? requests(workspace, id) : messages(workspace, id, step);
        ObjectNode out = JsonViews.newObject();
        out.put("workflow", workflow.published().name());
        out.put("step", step.isEmpty() ? null : step);
        out.put("asked", traffic.stream().mapToLong(WindowBacktest.RecordedRequest::times).sum());
        out.put(
                "since",
                JsonViews.formatTime(traffic.stream().mapToLong(WindowBacktest.RecordedRequest::at).min().orElse(0)));
        if (step.isEmpty()) {
            out.put("window", IdempotencyAdvisor.formatDuration(workflow.published().policy().window()));
        }
        ArrayNode outcomes = out.putArray("windows");
        for (Duration window : windows) {
            WindowBacktest.Outcome outcome = WindowBacktest.simulate(traffic, window.toNanos() / 1_000);
            outcomes.addObject()
                    .put("window", IdempotencyAdvisor.formatDuration(window))
                    .put(step.isEmpty() ? "runs" : "sent", outcome.fresh())
                    .put(step.isEmpty() ? "replayed" : "suppressed", outcome.repeated());
        }
        return JsonViews.ok(out);
    }

    private static List<Duration> windows(JsonNode list) {
        List<Duration> windows = new ArrayList<>();
        boolean typed = list.isArray();
        for (JsonNode one : list) {
            typed &= one.isString() && one.stringValue().matches("[0-9]{1,6}[smhd]");
            windows.add(typed ? Duration.ofNanos(RunRoutes.RunListFilter.parseAge(one.stringValue()) * 1_000) : Duration.ZERO);
        }
        boolean fits = windows.stream()
                .allMatch(window -> window.compareTo(KeyPolicy.SHORTEST_WINDOW) >= 0
                        && window.compareTo(KeyPolicy.LONGEST_WINDOW) <= 0);
        if (windows.isEmpty() || windows.size() > MOST_WINDOWS || !fits) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "A backtest needs 1 to " + MOST_WINDOWS + " windows from 1s to 365d. Nothing was computed.",
                    "Send {\"workflow\": \"NAME\", \"windows\": [\"12h\", \"24h\", \"48h\"]}.");
        }
        return windows;
    }

    /** The newest runs with a key, and the duplicate requests for them. */
    private List<WindowBacktest.RecordedRequest> requests(int workspace, String workflowId) {
        List<MetricQueries.AdmittedTrigger> arrivals = Objects.requireNonNull(
                semel.view(reads -> reads.metrics().admittedTriggers(workspace, workflowId, RunId.MAX, RUNS)));
        Map<RunId, WindowBacktest.RecordedRequest> first = new HashMap<>();
        List<WindowBacktest.RecordedRequest> recorded = new ArrayList<>();
        long oldest = Long.MAX_VALUE;
        for (MetricQueries.AdmittedTrigger one : arrivals) {
            if (one.key() != null) {
                first.put(one.run(), new WindowBacktest.RecordedRequest(one.key(), one.at(), 1, one.endedAt(), null));
                oldest = Math.min(oldest, one.at());
            }
        }
        recorded.addAll(first.values()); // first, so that a duplicate with the same time sorts after its run
        RunId before = null;
        for (int scanned = 0; scanned < REQUESTS && oldest < Long.MAX_VALUE; scanned += PAGE) {
            RunId from = before;
            List<StoreWrite.DuplicateRequest> page = Objects.requireNonNull(semel.view(reads -> reads.requests(workspace, from, PAGE)));
            for (StoreWrite.DuplicateRequest row : page) {
                WindowBacktest.RecordedRequest run = first.get(row.run());
                if (run != null && !row.conflict()) {
                    // Aggregated rows have the start of their second as time, which may be before the run.
                    recorded.add(new WindowBacktest.RecordedRequest(run.name(), Math.max(row.at(), run.at()), row.times(), 0, null));
                }
            }
            if (page.size() < PAGE || page.getLast().at() < oldest) {
                break;
            }
            before = page.getLast().id();
        }
        return recorded;
    }

    /** The messages that one step sent or suppressed, by effect key. */
    private List<WindowBacktest.RecordedRequest> messages(int workspace, String workflowId, String step) {
        MetricQueries.MetricRange range = new MetricQueries.MetricRange(workspace, workflowId, step, 0, Long.MAX_VALUE);
        List<WindowBacktest.RecordedRequest> recorded = new ArrayList<>();
        for (MetricCounter figure : List.of(MetricCounter.TOLD, MetricCounter.WRITTEN, MetricCounter.SUPPRESSED)) {
            List<MetricUpdates.MetricFact> facts = Objects.requireNonNull(
                    semel.view(reads -> reads.metrics().facts(range, figure, MetricQueries.FactCursor.START, RUNS)));
            facts.forEach(fact -> recorded.add(new WindowBacktest.RecordedRequest(fact.digest(), fact.at(), 1, 0, fact.dataDigest())));
        }
        return recorded;
    }
}
