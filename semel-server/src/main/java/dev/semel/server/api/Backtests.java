package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.KeyPolicy;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.signals.Advisor;
import dev.semel.server.signals.Backtest;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Write;
import dev.semel.workflow.Current;
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
final class Backtests {
    private static final int RUNS = 10_000;
    private static final int REQUESTS = 50_000;
    private static final int PAGE = 1_000;
    private static final int MOST_WINDOWS = 12;

    private final Semel semel;

    Backtests(Semel semel) {
        this.semel = semel;
    }

    Answer run(Request request) {
        MediaTypes.requireJson(request);
        JsonNode body = Json.parse(request.body());
        int workspace = request.principal().workspace();
        String name = body.path("workflow").isString() ? body.path("workflow").stringValue() : "";
        Current workflow = name.isEmpty() ? null : semel.workflow(workspace, name);
        if (workflow == null) {
            throw Triggers.unknownWorkflow();
        }
        List<Duration> windows = windows(body.path("windows"));
        String step = body.path("step").isString() ? body.path("step").stringValue() : "";
        String id = workflow.published().workflowId();
        List<Backtest.Asked> traffic = step.isEmpty() ? requests(workspace, id) : messages(workspace, id, step);
        ObjectNode out = Views.object();
        out.put("workflow", workflow.published().name());
        out.put("step", step.isEmpty() ? null : step);
        out.put("asked", traffic.stream().mapToLong(Backtest.Asked::times).sum());
        out.put(
                "since",
                Views.time(traffic.stream().mapToLong(Backtest.Asked::at).min().orElse(0)));
        if (step.isEmpty()) {
            out.put("window", Advisor.shown(workflow.published().policy().window()));
        }
        ArrayNode outcomes = out.putArray("windows");
        for (Duration window : windows) {
            Backtest.Outcome outcome = Backtest.of(traffic, window.toNanos() / 1_000);
            outcomes.addObject()
                    .put("window", Advisor.shown(window))
                    .put(step.isEmpty() ? "runs" : "sent", outcome.fresh())
                    .put(step.isEmpty() ? "replayed" : "suppressed", outcome.repeated());
        }
        return Views.ok(out);
    }

    private static List<Duration> windows(JsonNode list) {
        List<Duration> windows = new ArrayList<>();
        boolean typed = list.isArray();
        for (JsonNode one : list) {
            typed &= one.isString() && one.stringValue().matches("[0-9]{1,6}[smhd]");
            windows.add(typed ? Duration.ofNanos(Runs.Filter.age(one.stringValue()) * 1_000) : Duration.ZERO);
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
    private List<Backtest.Asked> requests(int workspace, String workflowId) {
        List<Figures.Arrival> arrivals = Objects.requireNonNull(
                semel.view(reads -> reads.figures().arrivals(workspace, workflowId, RunId.NEWEST, RUNS)));
        Map<RunId, Backtest.Asked> first = new HashMap<>();
        List<Backtest.Asked> recorded = new ArrayList<>();
        long oldest = Long.MAX_VALUE;
        for (Figures.Arrival one : arrivals) {
            if (one.key() != null) {
                first.put(one.run(), new Backtest.Asked(one.key(), one.at(), 1, one.endedAt(), null));
                oldest = Math.min(oldest, one.at());
            }
        }
        recorded.addAll(first.values()); // first, so that a duplicate with the same time sorts after its run
        RunId before = null;
        for (int scanned = 0; scanned < REQUESTS && oldest < Long.MAX_VALUE; scanned += PAGE) {
            RunId from = before;
            List<Write.Seen> page = Objects.requireNonNull(semel.view(reads -> reads.requests(workspace, from, PAGE)));
            for (Write.Seen row : page) {
                Backtest.Asked run = first.get(row.run());
                if (run != null && !row.conflict()) {
                    // Aggregated rows have the start of their second as time, which may be before the run.
                    recorded.add(new Backtest.Asked(run.name(), Math.max(row.at(), run.at()), row.times(), 0, null));
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
    private List<Backtest.Asked> messages(int workspace, String workflowId, String step) {
        Figures.Range range = new Figures.Range(workspace, workflowId, step, 0, Long.MAX_VALUE);
        List<Backtest.Asked> recorded = new ArrayList<>();
        for (Figure figure : List.of(Figure.TOLD, Figure.WRITTEN, Figure.SUPPRESSED)) {
            List<Counted.Fact> facts = Objects.requireNonNull(
                    semel.view(reads -> reads.figures().facts(range, figure, Figures.Behind.START, RUNS)));
            facts.forEach(fact -> recorded.add(new Backtest.Asked(fact.digest(), fact.at(), 1, 0, fact.data())));
        }
        return recorded;
    }
}
