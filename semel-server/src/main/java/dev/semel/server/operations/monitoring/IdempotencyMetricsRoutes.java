package dev.semel.server.operations.monitoring;

import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.monitoring.DuplicateSavingsByCurrency;
import dev.semel.server.monitoring.RecordedTrafficIdempotencyAdvisor;
import dev.semel.server.monitoring.WorkflowMetrics;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/monitoring`, `/v1/facts`, `/v1/objects` and `/v1/backtests`. Each number links to its list. */
public final class IdempotencyMetricsRoutes {
    private static final int MAX_EXPIRED = 1_000;
    private static final int MAX_ARRIVALS = 2_000;
    private static final int MAX_WORKFLOWS = 100;

    private final SemelRuntime semel;
    private final MetricSourceRecordRoutes facts;
    private final PreventedDuplicateSavingsCalculator worth;

    public IdempotencyMetricsRoutes(SemelRuntime semel, RunJsonRenderer views) {
        this.semel = semel;
        this.facts = new MetricSourceRecordRoutes(semel, views);
        this.worth = new PreventedDuplicateSavingsCalculator(semel);
    }

    public void addTo(ApiRouter router) {
        router.get("/v1/monitoring", TokenScope.READ, this::signals)
                .get("/v1/facts", TokenScope.READ, facts::list)
                .get("/v1/objects", TokenScope.READ, facts::objects)
                .post("/v1/backtests", TokenScope.READ, new IdempotencyWindowBacktestRoutes(semel)::run);
    }

    private ServerHttpResponse signals(ServerHttpRequest request) {
        MetricQuery looking = MetricQuery.of(semel, request);
        MetricQueries.MetricRange range = looking.range();
        Map<String, WorkflowMetrics> all =
                StoreReader.read(semel, reads -> WorkflowMetrics.byWorkflow(reads.metrics(), range));
        List<MetricQueries.CounterSum> sums = StoreReader.read(
                semel, reads -> reads.metrics().sums(range, looking.period().grain()));
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("since", RunJsonRenderer.formatTime(looking.period().since()));
        out.put("until", RunJsonRenderer.formatTime(looking.period().until()));
        out.put("workflow", looking.workflowId().isEmpty() ? null : looking.workflowName(looking.workflowId()));
        out.put("step", looking.step().isEmpty() ? null : looking.step());
        view(out, WorkflowMetrics.total(all), looking, looking.workflowId());
        PreventedDuplicateSavingsCalculator.SavingsSummary prevented = worth.calculate(looking);
        worth(out, prevented.worth(), prevented.complete());
        ArrayNode workflows = out.putArray("workflows");
        all.forEach((id, numbers) -> {
            ObjectNode one = workflows.addObject();
            one.put("workflow", looking.workflowName(id)).put("workflow_id", id);
            view(one, numbers, looking, id);
            worth(one, prevented.ofWorkflow(id), prevented.complete());
        });
        series(out.putArray("series"), sums);
        out.put("advice_complete", advice(out.putArray("advice"), all, looking));
        return RunJsonRenderer.ok(out);
    }

    private static void worth(ObjectNode out, DuplicateSavingsByCurrency worth, boolean complete) {
        ObjectNode duplicates = (ObjectNode) out.required("duplicates_prevented");
        ArrayNode amounts = duplicates.putArray("amount_saved");
        worth.sums()
                .forEach((currency, amount) ->
                        amounts.addObject().put("currency", currency).put("amount", amount));
        duplicates.put("amount_saved_complete", complete);
    }

    private static void view(ObjectNode out, WorkflowMetrics numbers, MetricQuery looking, String of) {
        out.putObject("conflict_rate")
                .put("rate", numbers.conflictRate())
                .put("conflicts", numbers.count(MetricCounter.CONFLICT))
                .put("keyed_triggers", numbers.keyedTriggers())
                .put("list", looking.listLink("facts?kind=conflict", of));
        out.putObject("duplicates_prevented")
                .put("count", numbers.duplicatesPrevented())
                .put("replayed_requests", numbers.count(MetricCounter.REPLAYED))
                .put("suppressed_effects", numbers.count(MetricCounter.SUPPRESSED))
                .put("list", looking.listLink("facts?kind=replayed", of))
                .put("effects", looking.listLink("facts?kind=suppressed", of));
        out.putObject("retry_recoveries")
                .put("count", numbers.count(MetricCounter.RECOVERED))
                .put("list", looking.listLink("facts?kind=recovered", of));
        out.putObject("expired_key_retries")
                .put("count", numbers.count(MetricCounter.EXPIRED))
                .put("list", looking.listLink("facts?kind=expired", of));
        out.putObject("writes_versus_objects")
                .put("writes", numbers.count(MetricCounter.WRITTEN))
                .put("writes_with_object", numbers.namedWrites())
                .put("objects", numbers.objects())
                .put("ratio", numbers.writesPerObject())
                .put("list", looking.listLink("objects?having=writes%3E1", of));
        ObjectNode also = out.putObject("additional");
        also.putObject("in_doubt")
                .put("count", numbers.inDoubt())
                .put("oldest_at", RunJsonRenderer.formatTime(numbers.oldestInDoubtAt()))
                .put("list", looking.filterLink("reviews", "kind:in_doubt", of));
        also.put("unprotected_effects", numbers.count(MetricCounter.UNPROTECTED));
        also.put("unprotected_list", looking.filterLink("effects", "protection:none", of));
        also.put("requests_without_key", numbers.count(MetricCounter.UNKEYED));
        also.put("without_key_list", looking.listLink("facts?kind=unkeyed", of));
        also.put("triggers", numbers.triggers());
        also.put("duplicate_payloads_rejected", numbers.count(MetricCounter.DUPLICATE_PAYLOAD));
        also.put("duplicate_payload_list", looking.listLink("facts?kind=duplicate_payload", of));
        also.put("notifications", numbers.count(MetricCounter.NOTIFIED));
    }

    private static void series(ArrayNode out, List<MetricQueries.CounterSum> sums) {
        WorkflowMetrics.series(sums)
                .forEach((minute, numbers) -> out.addObject()
                        .put("at", RunJsonRenderer.formatTime(minute * MetricUpdateCollector.MICROS_PER_MINUTE))
                        .put("keyed_triggers", numbers.keyedTriggers())
                        .put("conflicts", numbers.count(MetricCounter.CONFLICT))
                        .put("replayed_requests", numbers.count(MetricCounter.REPLAYED))
                        .put("suppressed_effects", numbers.count(MetricCounter.SUPPRESSED))
                        .put("retry_recoveries", numbers.count(MetricCounter.RECOVERED))
                        .put("expired_key_retries", numbers.count(MetricCounter.EXPIRED))
                        .put("writes", numbers.count(MetricCounter.WRITTEN))
                        .put("unprotected_effects", numbers.count(MetricCounter.UNPROTECTED))
                        .put("requests_without_key", numbers.count(MetricCounter.UNKEYED)));
    }

    /** Adds advice; false if there is more to scan than the limits allow. */
    private boolean advice(ArrayNode out, Map<String, WorkflowMetrics> all, MetricQuery looking) {
        List<String> ids = new ArrayList<>(all.keySet());
        boolean complete = ids.size() <= MAX_WORKFLOWS;
        for (String id : ids.subList(0, Math.min(MAX_WORKFLOWS, ids.size()))) {
            WorkflowCatalogEntry workflow = semel.workflow(looking.workspace(), id);
            if (workflow == null) {
                continue;
            }
            complete &= windows(out, workflow, looking);
            complete &= callers(out, workflow, looking);
        }
        return complete;
    }

    private boolean windows(ArrayNode out, WorkflowCatalogEntry workflow, MetricQuery looking) {
        String id = workflow.published().workflowId();
        MetricQueries.MetricRange range = looking.period().of(looking.workspace(), id, "");
        List<MetricUpdateCollector.MetricFact> expired = StoreReader.read(
                semel,
                reads -> reads.metrics()
                        .facts(range, MetricCounter.EXPIRED, MetricQueries.FactCursor.START, MAX_EXPIRED));
        RecordedTrafficIdempotencyAdvisor.WindowAdvice advice = RecordedTrafficIdempotencyAdvisor.adviseWindow(
                expired, workflow.published().policy().window());
        if (advice != null) {
            out.addObject()
                    .put("kind", "window")
                    .put("workflow", looking.workflowName(id))
                    .put("retries", advice.retries())
                    .put(
                            "window",
                            advice.window() == null
                                    ? null
                                    : RecordedTrafficIdempotencyAdvisor.formatDuration(advice.window()))
                    .put("message", advice.message())
                    .put("list", looking.listLink("facts?kind=expired", id));
        }
        return expired.size() < MAX_EXPIRED;
    }

    private boolean callers(ArrayNode out, WorkflowCatalogEntry workflow, MetricQuery looking) {
        String id = workflow.published().workflowId();
        RunId until = RunId.upperBoundAt(looking.period().until());
        List<MetricQueries.AdmittedTrigger> arrivals = StoreReader.read(
                semel, reads -> reads.metrics().admittedTriggers(looking.workspace(), id, until, MAX_ARRIVALS));
        List<MetricQueries.AdmittedTrigger> inTime = arrivals.stream()
                .filter(one -> one.triggerSource() == TriggerSource.HTTP.code()
                        && one.at() >= looking.period().since()
                        && one.at() < looking.period().until())
                .toList();
        for (RecordedTrafficIdempotencyAdvisor.CallerAdvice caller :
                RecordedTrafficIdempotencyAdvisor.adviseCallers(looking.workflowName(id), inTime)) {
            ObjectNode one = out.addObject()
                    .put("kind", "new_key_per_retry")
                    .put("workflow", looking.workflowName(id))
                    .put("actor_id", caller.actor())
                    .put("pairs", caller.pairs())
                    .put("message", caller.message());
            caller.runs().forEach(one.putArray("runs")::add);
        }
        return arrivals.size() < MAX_ARRIVALS
                || arrivals.getLast().at() < looking.period().since();
    }
}
