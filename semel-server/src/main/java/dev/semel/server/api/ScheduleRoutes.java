package dev.semel.server.api;

import dev.semel.runtime.Schedules;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
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
final class ScheduleRoutes {
    private static final int NEXT_SHOWN = 5;
    private static final int MAX_NEXT = 100;
    private static final int TICKS_SHOWN = 10;

    private final SemelRuntime semel;
    private final IdempotentActions actions;

    ScheduleRoutes(SemelRuntime semel, IdempotentActions actions) {
        this.semel = semel;
        this.actions = actions;
    }

    void addTo(Router router) {
        String one = "/v1/workflows/{id}/schedules/{name}";
        router.add("GET", "/v1/schedules", TokenScope.READ, this::list)
                .add("GET", one, TokenScope.READ, this::get)
                .add("GET", one + "/ticks", TokenScope.READ, this::ticks)
                .add(ApiRoutes.mutationRoute("POST", one + "/pause", TokenScope.OPERATE, request -> pause(request, true)))
                .add(ApiRoutes.mutationRoute("POST", one + "/resume", TokenScope.OPERATE, request -> pause(request, false)))
                .add(ApiRoutes.mutationRoute("POST", one + "/backfill", TokenScope.OPERATE, this::backfill));
    }

    private HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String after = paging.after() == null ? "" : paging.after();
        int dot = after.indexOf('.');
        if (!after.isEmpty() && dot < 0) {
            throw PagingParameters.invalidQuery("after must be the next value of an earlier response");
        }
        String workflow = after.isEmpty() ? "" : after.substring(0, dot);
        String name = after.isEmpty() ? "" : after.substring(dot + 1);
        int ws = request.principal().workspace();
        Map<String, String> names = new HashMap<>();
        return JsonViews.pageResponse(
                semel.schedules().page(ws, workflow, name, paging.limit()),
                paging.limit(),
                row -> view(row, names.computeIfAbsent(row.workflowId(), id -> nameOf(ws, id))),
                row -> row.workflowId() + "." + row.name());
    }

    /** Reads the name from the store, because a Java workflow may be registered in another process only. */
    private String nameOf(int workspace, String workflowId) {
        StoredRows.WorkflowRow row = semel.view(reads -> reads.workflow(workspace, workflowId));
        return row == null ? workflowId : row.name();
    }

    private ObjectNode view(StoredRows.ScheduleRow row) {
        return view(row, nameOf(row.ws(), row.workflowId()));
    }

    private HttpResponse get(HttpRequest request) {
        StoredRows.ScheduleRow row = find(request);
        ObjectNode out = view(row);
        ArrayNode next = out.putArray("next");
        semel.schedules().nextTimes(row, count(request)).forEach(time -> next.add(time.toString()));
        ArrayNode ticks = out.putArray("ticks");
        semel.schedules()
                .ticks(row.workflowId(), row.name(), Long.MAX_VALUE, TICKS_SHOWN)
                .forEach(tick -> ticks.add(view(tick)));
        return JsonViews.ok(out);
    }

    private static int count(HttpRequest request) {
        String text = request.query("next");
        if (text == null) {
            return NEXT_SHOWN;
        }
        boolean plain = !text.isEmpty() && text.length() <= 3 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!plain || Integer.parseInt(text) > MAX_NEXT) {
            throw PagingParameters.invalidQuery("next must be a whole number from 0 to " + MAX_NEXT);
        }
        return Integer.parseInt(text);
    }

    private HttpResponse ticks(HttpRequest request) {
        StoredRows.ScheduleRow row = find(request);
        PagingParameters paging = PagingParameters.parse(request);
        return JsonViews.pageResponse(
                semel.schedules().ticks(row.workflowId(), row.name(), before(paging.after()), paging.limit()),
                paging.limit(),
                ScheduleRoutes::view,
                tick -> Long.toString(tick.nominal()));
    }

    private static long before(@Nullable String cursor) {
        try {
            return cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw PagingParameters.invalidQuery("after must be the next value of an earlier response");
        }
    }

    private HttpResponse pause(HttpRequest request, boolean paused) {
        StoredRows.ScheduleRow row = find(request);
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), request.principal().tokenId(), "");
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest(paused ? "schedule.pause" : "schedule.resume", row.workflowId(), row.name()),
                new StoreCommand.PauseSchedule(row.ws(), row.workflowId(), row.name(), paused, by),
                changed -> changed == null ? null : view(changed));
        if (done == null) {
            throw unknown();
        }
        return done.toResponse();
    }

    /** Safe to repeat: each tick has one run. */
    private HttpResponse backfill(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("from", "to"));
        Schedules.BackfillRange span = new Schedules.BackfillRange(time("from", json), time("to", json));
        if (!span.to().isAfter(span.from())) {
            throw invalidBackfill("to must be after from");
        }
        StoredRows.ScheduleRow row = find(request);
        String target = row.workflowId() + "/" + row.name();
        var entry = new IdempotentActions.AuditNote("schedule.backfill", target, span.from() + " to " + span.to());
        Schedules.BackfillResult filled =
                semel.schedules().backfill(row.ws(), row, span, () -> actions.recordAudit(request, entry));
        ObjectNode out = JsonViews.newObject();
        ArrayNode ticks = out.putArray("ticks");
        filled.ticks().forEach(tick -> ticks.add(view(tick)));
        out.put("started", filled.started())
                .put("already_done", filled.alreadyDone())
                .put("refused", filled.rejected());
        return JsonViews.ok(out);
    }

    private static Instant time(String name, JsonBody json) {
        try {
            return OffsetDateTime.parse(json.text(name)).toInstant();
        } catch (DateTimeException e) {
            throw invalidBackfill(name + " must be a time such as 2026-11-15T09:00:00Z");
        }
    }

    private static SemelException invalidBackfill(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The backfill is not valid: " + rule + ". Nothing was started.",
                "Send {\"from\": TIME, \"to\": TIME}, both with an offset.");
    }

    private StoredRows.ScheduleRow find(HttpRequest request) {
        int workspace = request.principal().workspace();
        StoredRows.WorkflowRow workflow = semel.view(reads -> reads.workflow(workspace, request.parameter("id")));
        if (workflow == null) {
            throw TriggerRoutes.unknownWorkflow();
        }
        StoredRows.ScheduleRow row = semel.schedules().find(workspace, workflow.workflowId(), request.parameter("name"));
        if (row == null) {
            throw unknown();
        }
        return row;
    }

    private static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This workflow has no schedule with this name. Nothing was started or changed.",
                "Check the name. GET /v1/schedules lists the schedules.");
    }

    private static ObjectNode view(StoredRows.ScheduleRow row, String workflow) {
        ObjectNode out = JsonViews.newObject();
        out.put("workflow_id", row.workflowId())
                .put("workflow", workflow)
                .put("schedule", row.name())
                .put("paused", row.paused())
                .put("next_at", JsonViews.formatTime(row.nextNominal()))
                .put("fires_at", JsonViews.formatTime(row.nextAt()))
                .put("last_run_id", row.lastRun() == null ? null : row.lastRun().text())
                .put("running", row.busy());
        out.set("spec", StrictJson.parse(row.spec()));
        return out;
    }

    private static ObjectNode view(StoredRows.TickRow tick) {
        ObjectNode out = JsonViews.newObject();
        out.put("scheduled_at", JsonViews.formatTime(tick.nominal()))
                .put("status", tick.state().word())
                .put("reason", tick.reason().isEmpty() ? null : tick.reason())
                .put("run_id", tick.run() == null ? null : tick.run().text())
                .put("at", JsonViews.formatTime(tick.recordedAt()))
                .put("through", JsonViews.formatTime(tick.through()));
        return out;
    }
}
