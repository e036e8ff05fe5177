package dev.semel.server.operations.workflow;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.ScheduleOperations;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/schedules`: lists, pauses, resumes and backfills schedules. */
public record ScheduleRoutes(SemelRuntime semel, IdempotentInboundRequestExecutor actions) {
    private static final int NEXT_SHOWN = 5;
    private static final int MAX_NEXT = 100;
    private static final int TICKS_SHOWN = 10;

    public void addTo(ApiRouter router) {
        String one = "/v1/workflows/{id}/schedules/{name}";
        router.get("/v1/schedules", TokenScope.READ, this::list)
                .get(one, TokenScope.READ, this::get)
                .get(one + "/ticks", TokenScope.READ, this::ticks)
                .post(one + "/pause", TokenScope.OPERATE, request -> pause(request, true))
                .post(one + "/resume", TokenScope.OPERATE, request -> pause(request, false))
                .post(one + "/backfill", TokenScope.OPERATE, this::backfill);
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String after = paging.after() == null ? "" : paging.after();
        int dot = after.indexOf('.');
        if (!after.isEmpty() && dot < 0) {
            throw ApiErrors.invalidQuery("`after` must be the `next` value of an earlier response");
        }
        String workflow = after.isEmpty() ? "" : after.substring(0, dot);
        String name = after.isEmpty() ? "" : after.substring(dot + 1);
        int ws = request.principal().workspace();
        Map<String, String> names = new HashMap<>();
        return RunJsonRenderer.pageResponse(
                semel.schedules().page(ws, workflow, name, paging.limit()),
                paging.limit(),
                row -> view(row, names.computeIfAbsent(row.workflowId(), id -> nameOf(ws, id))),
                row -> row.workflowId() + "." + row.name());
    }

    /** Reads the name from the store, because a Java workflow may be registered in another process only. */
    private String nameOf(int workspace, String workflowId) {
        DatabaseRows.WorkflowRow row = semel.view(reads -> reads.workflow(workspace, workflowId));
        return row == null ? workflowId : row.name();
    }

    private ObjectNode view(DatabaseRows.ScheduleRow row) {
        return view(row, nameOf(row.ws(), row.workflowId()));
    }

    private ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.ScheduleRow row = find(request);
        ObjectNode out = view(row);
        ArrayNode next = out.putArray("next");
        semel.schedules().nextTimes(row, count(request)).forEach(time -> next.add(time.toString()));
        ArrayNode ticks = out.putArray("ticks");
        semel.schedules()
                .ticks(row.workflowId(), row.name(), Long.MAX_VALUE, TICKS_SHOWN)
                .forEach(tick -> ticks.add(view(tick)));
        return RunJsonRenderer.ok(out);
    }

    private static int count(ServerHttpRequest request) {
        String text = request.query("next");
        if (text == null) {
            return NEXT_SHOWN;
        }
        boolean plain = !text.isEmpty() && text.length() <= 3 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!plain || Integer.parseInt(text) > MAX_NEXT) {
            throw ApiErrors.invalidQuery("`next` must be a whole number from 0 to " + MAX_NEXT);
        }
        return Integer.parseInt(text);
    }

    private ServerHttpResponse ticks(ServerHttpRequest request) {
        DatabaseRows.ScheduleRow row = find(request);
        PagingParameters paging = PagingParameters.parse(request);
        return RunJsonRenderer.pageResponse(
                semel.schedules().ticks(row.workflowId(), row.name(), before(paging.after()), paging.limit()),
                paging.limit(),
                ScheduleRoutes::view,
                tick -> Long.toString(tick.nominal()));
    }

    private static long before(@Nullable String cursor) {
        try {
            return cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw ApiErrors.invalidQuery("`after` must be the `next` value of an earlier response");
        }
    }

    private ServerHttpResponse pause(ServerHttpRequest request, boolean paused) {
        DatabaseRows.ScheduleRow row = find(request);
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(
                semel.newId(), request.principal().tokenId(), "");
        return ApiErrors.orThrow(
                        actions.runOnce(
                                request,
                                new ActionRequest(
                                        paused ? "schedule.pause" : "schedule.resume", row.workflowId(), row.name()),
                                new StoreWriteCommand.PauseSchedule(row.ws(), row.workflowId(), row.name(), paused, by),
                                changed -> changed == null ? null : view(changed)),
                        ScheduleRoutes::unknown)
                .toResponse();
    }

    /** Safe to repeat: each tick has one run. */
    private ServerHttpResponse backfill(ServerHttpRequest request) {
        InboundJsonRequestBody json = InboundJsonRequestBody.parse(request, Set.of("from", "to"));
        ScheduleOperations.BackfillRange span =
                new ScheduleOperations.BackfillRange(time("from", json), time("to", json));
        if (!span.to().isAfter(span.from())) {
            throw invalidBackfill("`to` must be later than `from`");
        }
        DatabaseRows.ScheduleRow row = find(request);
        String target = row.workflowId() + "/" + row.name();
        var entry = new AuditNote("schedule.backfill", target, span.from() + " to " + span.to());
        ScheduleOperations.BackfillResult filled =
                semel.schedules().backfill(row.ws(), row, span, () -> actions.recordAudit(request, entry));
        ObjectNode out = RunJsonRenderer.newObject();
        filled.ticks().stream().map(tick -> view(tick)).forEach(out.putArray("ticks")::add);
        out.put("started", filled.started())
                .put("already_done", filled.alreadyDone())
                .put("rejected", filled.rejected());
        return RunJsonRenderer.ok(out);
    }

    private static Instant time(String name, InboundJsonRequestBody json) {
        try {
            return OffsetDateTime.parse(json.text(name)).toInstant();
        } catch (DateTimeException e) {
            throw invalidBackfill(name + " must be a time such as 2026-11-15T09:00:00Z");
        }
    }

    private static SemelException invalidBackfill(String rule) {
        return ApiErrors.invalidInput(
                "The backfill is not valid: " + rule + ". Nothing was started.",
                "Send {\"from\": TIME, \"to\": TIME}, both with an offset.");
    }

    private DatabaseRows.ScheduleRow find(ServerHttpRequest request) {
        int workspace = request.principal().workspace();
        DatabaseRows.WorkflowRow workflow = ApiErrors.orThrow(
                semel.view(reads -> reads.workflow(workspace, request.parameter("id"))), ApiErrors::unknownWorkflow);
        return ApiErrors.orThrow(
                semel.schedules().find(workspace, workflow.workflowId(), request.parameter("name")),
                ScheduleRoutes::unknown);
    }

    private static SemelException unknown() {
        return ApiErrors.notFound(
                "This workflow has no schedule with this name. Nothing was started or changed.",
                "Check the name. GET /v1/schedules lists the schedules.");
    }

    private static ObjectNode view(DatabaseRows.ScheduleRow row, String workflow) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("workflow_id", row.workflowId())
                .put("workflow", workflow)
                .put("schedule", row.name())
                .put("paused", row.paused())
                .put("next_at", RunJsonRenderer.formatTime(row.nextNominal()))
                .put("fires_at", RunJsonRenderer.formatTime(row.nextAt()))
                .put("last_run_id", row.lastRun() == null ? null : row.lastRun().text())
                .put("running", row.busy());
        out.set("spec", StrictJsonCodec.parse(row.spec()));
        return out;
    }

    private static ObjectNode view(DatabaseRows.TickRow tick) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("scheduled_at", RunJsonRenderer.formatTime(tick.nominal()))
                .put("status", tick.state().word())
                .put("reason", tick.reason().isEmpty() ? null : tick.reason())
                .put("run_id", tick.run() == null ? null : tick.run().text())
                .put("at", RunJsonRenderer.formatTime(tick.recordedAt()))
                .put("through", RunJsonRenderer.formatTime(tick.through()));
        return out;
    }
}
