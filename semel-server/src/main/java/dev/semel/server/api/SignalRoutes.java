package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.run.RunId;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.signals.Advisor;
import dev.semel.server.signals.Numbers;
import dev.semel.server.signals.Worth;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.trigger.Door;
import dev.semel.workflow.Current;
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
final class SignalRoutes {
    private static final int MAX_EXPIRED = 1_000;
    private static final int MAX_ARRIVALS = 2_000;
    private static final int MAX_WORKFLOWS = 100;

    private final Semel semel;
    private final FactRoutes facts;
    private final PreventedWorth worth;

    SignalRoutes(Semel semel, Views views) {
        this.semel = semel;
        this.facts = new FactRoutes(semel, views);
        this.worth = new PreventedWorth(semel);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/signals", Scope.READ, this::signals)
                .add("GET", "/v1/facts", Scope.READ, facts::list)
                .add("GET", "/v1/objects", Scope.READ, facts::objects)
                .add(Api.changing("POST", "/v1/backtests", Scope.READ, new Backtests(semel)::run));
    }

    private Answer signals(Request request) {
        Looking looking = Looking.of(semel, request);
        Figures.Range range = looking.range();
        Map<String, Numbers> all =
                Objects.requireNonNull(semel.view(reads -> Numbers.byWorkflow(reads.figures(), range)));
        List<Figures.Sum> sums = Objects.requireNonNull(
                semel.view(reads -> reads.figures().sums(range, looking.period().grain())));
        ObjectNode out = Views.object();
        out.put("since", Views.time(looking.period().since()));
        out.put("until", Views.time(looking.period().until()));
        out.put("workflow", looking.workflowId().isEmpty() ? null : looking.name(looking.workflowId()));
        out.put("step", looking.step().isEmpty() ? null : looking.step());
        view(out, Numbers.total(all), looking, looking.workflowId());
        PreventedWorth.Sum prevented = worth.of(looking);
        worth(out, prevented.worth(), prevented.complete());
        ArrayNode workflows = out.putArray("workflows");
        all.forEach((id, numbers) -> {
            ObjectNode one = workflows.addObject();
            one.put("workflow", looking.name(id)).put("workflow_id", id);
            view(one, numbers, looking, id);
            worth(one, prevented.of(id), prevented.complete());
        });
        series(out.putArray("series"), sums);
        out.put("advice_complete", advice(out.putArray("advice"), all, looking));
        return Views.ok(out);
    }

    private static void worth(ObjectNode out, Worth worth, boolean complete) {
        ObjectNode duplicates = (ObjectNode) out.required("duplicates_prevented");
        ArrayNode amounts = duplicates.putArray("worth");
        worth.sums()
                .forEach((currency, amount) ->
                        amounts.addObject().put("currency", currency).put("amount", amount));
        duplicates.put("worth_complete", complete);
    }

    private static void view(ObjectNode out, Numbers numbers, Looking looking, String of) {
        out.putObject("conflict_rate")
                .put("rate", numbers.conflictRate())
                .put("conflicts", numbers.of(Figure.CONFLICT))
                .put("keyed_triggers", numbers.keyedTriggers())
                .put("list", looking.list("facts?kind=conflict", of));
        out.putObject("duplicates_prevented")
                .put("count", numbers.prevented())
                .put("replayed_requests", numbers.of(Figure.REPLAYED))
                .put("suppressed_effects", numbers.of(Figure.SUPPRESSED))
                .put("list", looking.list("facts?kind=replayed", of))
                .put("effects", looking.list("facts?kind=suppressed", of));
        out.putObject("retry_recoveries")
                .put("count", numbers.of(Figure.RECOVERED))
                .put("list", looking.list("facts?kind=recovered", of));
        out.putObject("expired_key_retries")
                .put("count", numbers.of(Figure.EXPIRED))
                .put("list", looking.list("facts?kind=expired", of));
        out.putObject("writes_versus_objects")
                .put("writes", numbers.of(Figure.WRITTEN))
                .put("writes_with_object", numbers.named())
                .put("objects", numbers.objects())
                .put("ratio", numbers.ratio())
                .put("list", looking.list("objects?having=writes%3E1", of));
        ObjectNode also = out.putObject("also");
        also.putObject("in_doubt")
                .put("count", numbers.inDoubt())
                .put("oldest_at", Views.time(numbers.oldestDoubt()))
                .put("list", looking.words("reviews", "kind:in_doubt", of));
        also.put("unprotected_effects", numbers.of(Figure.UNPROTECTED));
        also.put("unprotected_list", looking.words("effects", "protection:none", of));
        also.put("requests_without_key", numbers.of(Figure.UNKEYED));
        also.put("without_key_list", looking.list("facts?kind=unkeyed", of));
        also.put("triggers", numbers.triggers());
        also.put("same_payload_refused", numbers.of(Figure.SAME_PAYLOAD));
        also.put("same_payload_list", looking.list("facts?kind=same_payload", of));
        also.put("notifications", numbers.of(Figure.TOLD));
    }

    private static void series(ArrayNode out, List<Figures.Sum> sums) {
        Numbers.series(sums)
                .forEach((minute, numbers) -> out.addObject()
                        .put("at", Views.time(minute * Counted.MINUTE))
                        .put("keyed_triggers", numbers.keyedTriggers())
                        .put("conflicts", numbers.of(Figure.CONFLICT))
                        .put("replayed_requests", numbers.of(Figure.REPLAYED))
                        .put("suppressed_effects", numbers.of(Figure.SUPPRESSED))
                        .put("retry_recoveries", numbers.of(Figure.RECOVERED))
                        .put("expired_key_retries", numbers.of(Figure.EXPIRED))
                        .put("writes", numbers.of(Figure.WRITTEN))
                        .put("unprotected_effects", numbers.of(Figure.UNPROTECTED))
                        .put("requests_without_key", numbers.of(Figure.UNKEYED)));
    }

    /** Adds advice; false if there is more to scan than the limits allow. */
    private boolean advice(ArrayNode out, Map<String, Numbers> all, Looking looking) {
        List<String> ids = new ArrayList<>(all.keySet());
        boolean complete = ids.size() <= MAX_WORKFLOWS;
        for (String id : ids.subList(0, Math.min(MAX_WORKFLOWS, ids.size()))) {
            Current workflow = semel.workflow(looking.workspace(), id);
            if (workflow == null) {
                continue;
            }
            complete &= windows(out, workflow, looking);
            complete &= callers(out, workflow, looking);
        }
        return complete;
    }

    private boolean windows(ArrayNode out, Current workflow, Looking looking) {
        String id = workflow.published().workflowId();
        Figures.Range range = looking.period().of(looking.workspace(), id, "");
        List<Counted.Fact> expired = Objects.requireNonNull(semel.view(
                reads -> reads.figures().facts(range, Figure.EXPIRED, Figures.Behind.START, MAX_EXPIRED)));
        Advisor.Window advice =
                Advisor.window(expired, workflow.published().policy().window());
        if (advice != null) {
            out.addObject()
                    .put("kind", "window")
                    .put("workflow", looking.name(id))
                    .put("retries", advice.retries())
                    .put("window", advice.window() == null ? null : Advisor.shown(advice.window()))
                    .put("says", advice.says())
                    .put("list", looking.list("facts?kind=expired", id));
        }
        return expired.size() < MAX_EXPIRED;
    }

    private boolean callers(ArrayNode out, Current workflow, Looking looking) {
        String id = workflow.published().workflowId();
        RunId until = RunId.madeUntil(looking.period().until());
        List<Figures.Arrival> arrivals = Objects.requireNonNull(
                semel.view(reads -> reads.figures().arrivals(looking.workspace(), id, until, MAX_ARRIVALS)));
        List<Figures.Arrival> inTime = arrivals.stream()
                .filter(one -> one.door() == Door.HTTP.code()
                        && one.at() >= looking.period().since()
                        && one.at() < looking.period().until())
                .toList();
        for (Advisor.Caller caller : Advisor.callers(looking.name(id), inTime)) {
            ObjectNode one = out.addObject()
                    .put("kind", "new_key_per_retry")
                    .put("workflow", looking.name(id))
                    .put("actor_id", caller.actor())
                    .put("pairs", caller.pairs())
                    .put("says", caller.says());
            ArrayNode runs = one.putArray("runs");
            caller.runs().forEach(runs::add);
        }
        return arrivals.size() < MAX_ARRIVALS
                || arrivals.getLast().at() < looking.period().since();
    }
}
