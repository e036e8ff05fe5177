package dev.semel.server.operations.replay;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/recovery`: the runs with an unknown outcome that are safe to send again, and how long. */
public record RecoveryRoutes(SemelRuntime semel) {
    private static final long HOUR = TimeUnit.HOURS.toMicros(1);
    private static final long DAY = TimeUnit.DAYS.toMicros(1);

    public void addTo(ApiRouter router) {
        router.get("/v1/recovery", TokenScope.READ, this::show);
    }

    private record Losses(long now, List<DatabaseRows.ResendLoss> byWorkflow) {}

    private ServerHttpResponse show(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        Losses losses = StoreReader.read(semel, reads -> {
            long now = reads.now();
            return new Losses(now, reads.resendLosses(ws, now + HOUR, now + DAY));
        });
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("at", RunJsonRenderer.formatTime(losses.now()));
        counts(
                out,
                sum(losses.byWorkflow().stream().mapToLong(DatabaseRows.ResendLoss::runs)),
                sum(losses.byWorkflow().stream().mapToLong(DatabaseRows.ResendLoss::inHour)),
                sum(losses.byWorkflow().stream().mapToLong(DatabaseRows.ResendLoss::inDay)));
        out.put("soonest", soonest(losses.byWorkflow()));
        ArrayNode workflows = out.putArray("workflows");
        for (DatabaseRows.ResendLoss one : losses.byWorkflow()) {
            ObjectNode item = workflows.addObject();
            DatabaseRows.WorkflowRow workflow = semel.view(reads -> reads.workflow(ws, one.workflowId()));
            item.put("workflow_id", one.workflowId()).put("workflow", workflow == null ? null : workflow.name());
            counts(item, one.runs(), one.inHour(), one.inDay());
            item.put("soonest", RunJsonRenderer.formatTime(one.soonest()));
        }
        return RunJsonRenderer.ok(out);
    }

    private static long sum(java.util.stream.LongStream numbers) {
        return numbers.sum();
    }

    private static void counts(ObjectNode out, long runs, long inHour, long inDay) {
        out.put("runs", runs).put("lose_safe_resend_within_hour", inHour).put("lose_safe_resend_within_day", inDay);
    }

    private static @Nullable String soonest(List<DatabaseRows.ResendLoss> losses) {
        return losses.isEmpty()
                ? null
                : RunJsonRenderer.formatTime(losses.getFirst().soonest());
    }
}
