package dev.semel.server.api;

import dev.semel.Schedules;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
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

    private final Semel semel;
    private final Deeds actions;

    ScheduleRoutes(Semel semel, Deeds actions) {
        this.semel = semel;
        this.actions = actions;
    }

    void addTo(Router router) {
        String one = "/v1/workflows/{id}/schedules/{name}";
        router.add("GET", "/v1/schedules", Scope.READ, this::list)
                .add("GET", one, Scope.READ, this::get)
                .add("GET", one + "/ticks", Scope.READ, this::ticks)
                .add(Api.changing("POST", one + "/pause", Scope.OPERATE, request -> pause(request, true)))
                .add(Api.changing("POST", one + "/resume", Scope.OPERATE, request -> pause(request, false)))
                .add(Api.changing("POST", one + "/backfill", Scope.OPERATE, this::backfill));
    }

    private Answer list(Request request) {
        Paging paging = Paging.of(request);
        String after = paging.after() == null ? "" : paging.after();
        int dot = after.indexOf('.');
        if (!after.isEmpty() && dot < 0) {
            throw Paging.refused("after must be the next value of an earlier response");
        }
        String workflow = after.isEmpty() ? "" : after.substring(0, dot);
        String name = after.isEmpty() ? "" : after.substring(dot + 1);
        int ws = request.principal().workspace();
        Map<String, String> names = new HashMap<>();
        return Views.page(
                semel.schedules().page(ws, workflow, name, paging.limit()),
                paging.limit(),
                row -> view(row, names.computeIfAbsent(row.workflowId(), id -> nameOf(ws, id))),
                row -> row.workflowId() + "." + row.name());
    }

    /** Reads the name from the store, because a Java workflow may be registered in another process only. */
    private String nameOf(int workspace, String workflowId) {
        Rows.Workflow row = semel.view(reads -> reads.workflow(workspace, workflowId));
        return row == null ? workflowId : row.name();
    }

    private ObjectNode view(Rows.Schedule row) {
        return view(row, nameOf(row.ws(), row.workflowId()));
    }

    private Answer get(Request request) {
        Rows.Schedule row = find(request);
        ObjectNode out = view(row);
        ArrayNode next = out.putArray("next");
        semel.schedules().next(row, count(request)).forEach(time -> next.add(time.toString()));
        ArrayNode ticks = out.putArray("ticks");
        semel.schedules()
                .ticks(row.workflowId(), row.name(), Long.MAX_VALUE, TICKS_SHOWN)
                .forEach(tick -> ticks.add(view(tick)));
        return Views.ok(out);
    }

    private static int count(Request request) {
        String text = request.query("next");
        if (text == null) {
            return NEXT_SHOWN;
        }
        boolean plain = !text.isEmpty() && text.length() <= 3 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!plain || Integer.parseInt(text) > MAX_NEXT) {
            throw Paging.refused("next must be a whole number from 0 to " + MAX_NEXT);
        }
        return Integer.parseInt(text);
    }

    private Answer ticks(Request request) {
        Rows.Schedule row = find(request);
        Paging paging = Paging.of(request);
        return Views.page(
                semel.schedules().ticks(row.workflowId(), row.name(), before(paging.after()), paging.limit()),
                paging.limit(),
                ScheduleRoutes::view,
                tick -> Long.toString(tick.nominal()));
    }

    private static long before(@Nullable String cursor) {
        try {
            return cursor == null ? Long.MAX_VALUE : Long.parseLong(cursor);
        } catch (NumberFormatException e) {
            throw Paging.refused("after must be the next value of an earlier response");
        }
    }

    private Answer pause(Request request, boolean paused) {
        Rows.Schedule row = find(request);
        Edit.By by = new Edit.By(semel.newId(), request.principal().tokenId(), "");
        Deeds.Done done = actions.once(
                request,
                new Deeds.Deed(paused ? "schedule.pause" : "schedule.resume", row.workflowId(), row.name()),
                new Edit.PauseSchedule(row.ws(), row.workflowId(), row.name(), paused, by),
                changed -> changed == null ? null : view(changed));
        if (done == null) {
            throw unknown();
        }
        return done.answer();
    }

    /** Safe to repeat: each tick has one run. */
    private Answer backfill(Request request) {
        Said json = Said.in(request, Set.of("from", "to"));
        Schedules.Span span = new Schedules.Span(time("from", json), time("to", json));
        if (!span.to().isAfter(span.from())) {
            throw invalidBackfill("to must be after from");
        }
        Rows.Schedule row = find(request);
        String target = row.workflowId() + "/" + row.name();
        var entry = new Deeds.Entry("schedule.backfill", target, span.from() + " to " + span.to());
        Schedules.Backfilled filled =
                semel.schedules().backfill(row.ws(), row, span, () -> actions.note(request, entry));
        ObjectNode out = Views.object();
        ArrayNode ticks = out.putArray("ticks");
        filled.ticks().forEach(tick -> ticks.add(view(tick)));
        out.put("started", filled.started())
                .put("already_done", filled.before())
                .put("refused", filled.refused());
        return Views.ok(out);
    }

    private static Instant time(String name, Said json) {
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

    private Rows.Schedule find(Request request) {
        int workspace = request.principal().workspace();
        Rows.Workflow workflow = semel.view(reads -> reads.workflow(workspace, request.parameter("id")));
        if (workflow == null) {
            throw Triggers.unknownWorkflow();
        }
        Rows.Schedule row = semel.schedules().find(workspace, workflow.workflowId(), request.parameter("name"));
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

    private static ObjectNode view(Rows.Schedule row, String workflow) {
        ObjectNode out = Views.object();
        out.put("workflow_id", row.workflowId())
                .put("workflow", workflow)
                .put("schedule", row.name())
                .put("paused", row.paused())
                .put("next_at", Views.time(row.nextNominal()))
                .put("fires_at", Views.time(row.nextAt()))
                .put("last_run_id", row.lastRun() == null ? null : row.lastRun().text())
                .put("running", row.busy());
        out.set("spec", Json.parse(row.spec()));
        return out;
    }

    private static ObjectNode view(Rows.Tick tick) {
        ObjectNode out = Views.object();
        out.put("scheduled_at", Views.time(tick.nominal()))
                .put("status", tick.state().word())
                .put("reason", tick.reason().isEmpty() ? null : tick.reason())
                .put("run_id", tick.run() == null ? null : tick.run().text())
                .put("at", Views.time(tick.at()))
                .put("through", Views.time(tick.through()));
        return out;
    }
}
