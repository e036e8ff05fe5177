package dev.semel.server.operations.monitoring;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.monitoring.IdempotencyWindowBacktest;
import dev.semel.server.monitoring.RecordedTrafficIdempotencyAdvisor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWrite;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves `POST /v1/backtests`: simulates other windows on recorded traffic. Changes nothing, returns only numbers. */
record IdempotencyWindowBacktestRoutes(SemelRuntime semel) {
    private static final int RUNS = 10_000;
    private static final int REQUESTS = 50_000;
    private static final int PAGE = 1_000;
    private static final int MOST_WINDOWS = 12;

    ServerHttpResponse run(ServerHttpRequest request) {
        JsonNode body = InboundJsonRequestBody.parseAny(request);
        int workspace = request.principal().workspace();
        String name = body.path("workflow").isString() ? body.path("workflow").stringValue() : "";
        WorkflowCatalogEntry workflow =
                ApiErrors.orThrow(name.isEmpty() ? null : semel.workflow(workspace, name), ApiErrors::unknownWorkflow);
        List<Duration> windows = windows(body.path("windows"));
        String step = body.path("step").isString() ? body.path("step").stringValue() : "";
        String id = workflow.published().workflowId();
        List<IdempotencyWindowBacktest.RecordedRequest> traffic =
                step.isEmpty() ? requests(workspace, id) : messages(workspace, id, step);
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("workflow", workflow.published().name());
        out.put("step", step.isEmpty() ? null : step);
        out.put(
                "examined",
                traffic.stream()
                        .mapToLong(IdempotencyWindowBacktest.RecordedRequest::times)
                        .sum());
        out.put(
                "since",
                RunJsonRenderer.formatTime(traffic.stream()
                        .mapToLong(IdempotencyWindowBacktest.RecordedRequest::at)
                        .min()
                        .orElse(0)));
        if (step.isEmpty()) {
            out.put(
                    "window",
                    RecordedTrafficIdempotencyAdvisor.formatDuration(
                            workflow.published().policy().window()));
        }
        ArrayNode outcomes = out.putArray("windows");
        for (Duration window : windows) {
            IdempotencyWindowBacktest.Outcome outcome =
                    IdempotencyWindowBacktest.simulate(traffic, window.toNanos() / 1_000);
            outcomes.addObject()
                    .put("window", RecordedTrafficIdempotencyAdvisor.formatDuration(window))
                    .put(step.isEmpty() ? "runs" : "sent", outcome.fresh())
                    .put(step.isEmpty() ? "replayed" : "suppressed", outcome.repeated());
        }
        return RunJsonRenderer.ok(out);
    }

    private static List<Duration> windows(JsonNode list) {
        List<Duration> windows = new ArrayList<>();
        for (JsonNode one : list.isArray() ? list : JsonNodeFactory.instance.arrayNode()) {
            windows.add(DurationFormat.parse(one.asString("")).orElse(Duration.ZERO));
        }
        boolean fits = windows.stream()
                .allMatch(window -> window.compareTo(KeyPolicy.SHORTEST_WINDOW) >= 0
                        && window.compareTo(KeyPolicy.LONGEST_WINDOW) <= 0);
        if (windows.isEmpty() || windows.size() > MOST_WINDOWS || !fits) {
            throw ApiErrors.invalidInput(
                    "A backtest needs 1 to " + MOST_WINDOWS
                            + " windows, each between 1s and 365d. Nothing was computed.",
                    "Send {\"workflow\": \"NAME\", \"windows\": [\"12h\", \"24h\", \"48h\"]}.");
        }
        return windows;
    }

    /** The newest runs with a key, and the duplicate requests for them. */
    private List<IdempotencyWindowBacktest.RecordedRequest> requests(int workspace, String workflowId) {
        List<MetricQueries.AdmittedTrigger> arrivals = StoreReader.read(
                semel, reads -> reads.metrics().admittedTriggers(workspace, workflowId, RunId.MAX, RUNS));
        Map<RunId, IdempotencyWindowBacktest.RecordedRequest> first = new HashMap<>();
        List<IdempotencyWindowBacktest.RecordedRequest> recorded = new ArrayList<>();
        long oldest = Long.MAX_VALUE;
        for (MetricQueries.AdmittedTrigger one : arrivals) {
            if (one.key() != null) {
                first.put(
                        one.run(),
                        new IdempotencyWindowBacktest.RecordedRequest(one.key(), one.at(), 1, one.endedAt(), null));
                oldest = Math.min(oldest, one.at());
            }
        }
        recorded.addAll(first.values()); // first, so that a duplicate with the same time sorts after its run
        RunId before = null;
        for (int scanned = 0; scanned < REQUESTS && oldest < Long.MAX_VALUE; scanned += PAGE) {
            RunId from = before;
            List<StoreWrite.DuplicateRequest> page =
                    StoreReader.read(semel, reads -> reads.requests(workspace, from, PAGE));
            for (StoreWrite.DuplicateRequest row : page) {
                IdempotencyWindowBacktest.RecordedRequest run = first.get(row.run());
                if (run != null && !row.conflict()) {
                    // Aggregated rows have the start of their second as time, which may be before the run.
                    recorded.add(new IdempotencyWindowBacktest.RecordedRequest(
                            run.name(), Math.max(row.at(), run.at()), row.times(), 0, null));
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
    private List<IdempotencyWindowBacktest.RecordedRequest> messages(int workspace, String workflowId, String step) {
        MetricQueries.MetricRange range = new MetricQueries.MetricRange(workspace, workflowId, step, 0, Long.MAX_VALUE);
        List<IdempotencyWindowBacktest.RecordedRequest> recorded = new ArrayList<>();
        for (MetricCounter figure : List.of(MetricCounter.NOTIFIED, MetricCounter.WRITTEN, MetricCounter.SUPPRESSED)) {
            List<MetricUpdateCollector.MetricFact> facts = StoreReader.read(
                    semel, reads -> reads.metrics().facts(range, figure, MetricQueries.FactCursor.START, RUNS));
            facts.forEach(fact -> recorded.add(
                    new IdempotencyWindowBacktest.RecordedRequest(fact.digest(), fact.at(), 1, 0, fact.dataDigest())));
        }
        return recorded;
    }
}
