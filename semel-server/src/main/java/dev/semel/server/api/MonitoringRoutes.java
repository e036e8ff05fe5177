package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.monitoring.IdempotencyAdvisor;
import dev.semel.server.monitoring.WorkflowMetrics;
import dev.semel.server.monitoring.SavedAmounts;
import dev.semel.store.MetricUpdates;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.trigger.TriggerSource;
import dev.semel.definition.CurrentWorkflow;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the monitoring API: `/v1/signals`, `/v1/facts`, `/v1/objects` and `/v1/backtests`. Each number links to its
 * list.
 */
final class MonitoringRoutes {
    private static final int MAX_EXPIRED = 1_000;
    private static final int MAX_ARRIVALS = 2_000;
    private static final int MAX_WORKFLOWS = 100;

    private final SemelRuntime semel;
    private final MetricFactRoutes facts;
    private final DuplicateSavings worth;

    MonitoringRoutes(SemelRuntime semel, JsonViews views) {
        this.semel = semel;
        this.facts = new MetricFactRoutes(semel, views);
        this.worth = new DuplicateSavings(semel);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/signals", TokenScope.READ, this::signals)
                .add("GET", "/v1/facts", TokenScope.READ, facts::list)
                .add("GET", "/v1/objects", TokenScope.READ, facts::objects)
                .add(ApiRoutes.mutationRoute("POST", "/v1/backtests", TokenScope.READ, new BacktestRoutes(semel)::run));
    }

    private HttpResponse signals(HttpRequest request) {
        MetricQuery looking = MetricQuery.of(semel, request);
        MetricQueries.MetricRange range = looking.range();
        Map<String, WorkflowMetrics> all =
                Objects.requireNonNull(semel.view(reads -> WorkflowMetrics.byWorkflow(reads.metrics(), range)));
        List<MetricQueries.CounterSum> sums = Objects.requireNonNull(
                semel.view(reads -> reads.metrics().sums(range, looking.period().grain())));
        ObjectNode out = JsonViews.newObject();
        out.put("since", JsonViews.formatTime(looking.period().since()));
        out.put("until", JsonViews.formatTime(looking.period().until()));
        out.put("workflow", looking.workflowId().isEmpty() ? null : looking.workflowName(looking.workflowId()));
        out.put("step", looking.step().isEmpty() ? null : looking.step());
        view(out, WorkflowMetrics.total(all), looking, looking.workflowId());
        DuplicateSavings.SavingsSummary prevented = worth.calculate(looking);
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
        return JsonViews.ok(out);
    }

    private static void worth(ObjectNode out, SavedAmounts worth, boolean complete) {
        ObjectNode duplicates = (ObjectNode) out.required("duplicates_prevented");
        ArrayNode amounts = duplicates.putArray("worth");
        worth.sums()
                .forEach((currency, amount) ->
                        amounts.addObject().put("currency", currency).put("amount", amount));
        duplicates.put("worth_complete", complete);
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
        ObjectNode also = out.putObject("also");
        also.putObject("in_doubt")
                .put("count", numbers.inDoubt())
                .put("oldest_at", JsonViews.formatTime(numbers.oldestInDoubtAt()))
                .put("list", looking.filterLink("reviews", "kind:in_doubt", of));
        also.put("unprotected_effects", numbers.count(MetricCounter.UNPROTECTED));
        also.put("unprotected_list", looking.filterLink("effects", "protection:none", of));
        also.put("requests_without_key", numbers.count(MetricCounter.UNKEYED));
        also.put("without_key_list", looking.listLink("facts?kind=unkeyed", of));
        also.put("triggers", numbers.triggers());
        also.put("same_payload_refused", numbers.count(MetricCounter.SAME_PAYLOAD));
        also.put("same_payload_list", looking.listLink("facts?kind=same_payload", of));
        also.put("notifications", numbers.count(MetricCounter.TOLD));
    }

    private static void series(ArrayNode out, List<MetricQueries.CounterSum> sums) {
        WorkflowMetrics.series(sums)
                .forEach((minute, numbers) -> out.addObject()
                        .put("at", JsonViews.formatTime(minute * MetricUpdates.MICROS_PER_MINUTE))
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
            CurrentWorkflow workflow = semel.workflow(looking.workspace(), id);
            if (workflow == null) {
                continue;
            }
            complete &= windows(out, workflow, looking);
            complete &= callers(out, workflow, looking);
        }
        return complete;
    }

    private boolean windows(ArrayNode out, CurrentWorkflow workflow, MetricQuery looking) {
        String id = workflow.published().workflowId();
        MetricQueries.MetricRange range = looking.period().of(looking.workspace(), id, "");
        List<MetricUpdates.MetricFact> expired = Objects.requireNonNull(semel.view(
                reads -> reads.metrics().facts(range, MetricCounter.EXPIRED, MetricQueries.FactCursor.START, MAX_EXPIRED)));
        IdempotencyAdvisor.WindowAdvice advice =
                IdempotencyAdvisor.adviseWindow(expired, workflow.published().policy().window());
        if (advice != null) {
            out.addObject()
                    .put("kind", "window")
                    .put("workflow", looking.workflowName(id))
                    .put("retries", advice.retries())
                    .put("window", advice.window() == null ? null : IdempotencyAdvisor.formatDuration(advice.window()))
                    .put("says", advice.message())
                    .put("list", looking.listLink("facts?kind=expired", id));
        }
        return expired.size() < MAX_EXPIRED;
    }

    private boolean callers(ArrayNode out, CurrentWorkflow workflow, MetricQuery looking) {
        String id = workflow.published().workflowId();
        RunId until = RunId.upperBoundAt(looking.period().until());
        List<MetricQueries.AdmittedTrigger> arrivals = Objects.requireNonNull(
                semel.view(reads -> reads.metrics().admittedTriggers(looking.workspace(), id, until, MAX_ARRIVALS)));
        List<MetricQueries.AdmittedTrigger> inTime = arrivals.stream()
                .filter(one -> one.triggerSource() == TriggerSource.HTTP.code()
                        && one.at() >= looking.period().since()
                        && one.at() < looking.period().until())
                .toList();
        for (IdempotencyAdvisor.CallerAdvice caller : IdempotencyAdvisor.adviseCallers(looking.workflowName(id), inTime)) {
            ObjectNode one = out.addObject()
                    .put("kind", "new_key_per_retry")
                    .put("workflow", looking.workflowName(id))
                    .put("actor_id", caller.actor())
                    .put("pairs", caller.pairs())
                    .put("says", caller.message());
            ArrayNode runs = one.putArray("runs");
            caller.runs().forEach(runs::add);
        }
        return arrivals.size() < MAX_ARRIVALS
                || arrivals.getLast().at() < looking.period().since();
    }
}
