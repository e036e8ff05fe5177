package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.store.StoredRows;
import dev.semel.store.KeyClaim;
import dev.semel.store.StoreWrite;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Renders runs, requests and key records as the JSON of the API (CONTRACT section 5). */
final class JsonViews {
    static final int REQUESTS_SHOWN = 20;

    /** The number of counter bits below the microseconds of an id. */
    private static final int TIME_SHIFT = 12;

    /** 2024: Semel created no id before that. */
    private static final long EARLIEST = 1_704_067_200_000_000L;

    private final SemelRuntime semel;
    private final PiiMasks masks;

    JsonViews(SemelRuntime semel) {
        this.semel = semel;
        this.masks = new PiiMasks(semel);
    }

    /** The steps of a run, with PII masked. */
    ObjectNode stepsJson(StoredRows.RunRow run, RunTimelineView timeline, RunTimelineView.StepRange part) {
        return timeline.toJson(part, masks.of(run));
    }

    static ObjectNode newObject() {
        return JsonNodeFactory.instance.objectNode();
    }

    static HttpResponse ok(JsonNode body) {
        return HttpResponse.json(200, StrictJson.bytes(body));
    }

    static @Nullable String formatTime(long micros) {
        return micros == 0 || micros == KeyClaim.FOREVER
                ? null
                : Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000)
                        .toString();
    }

    /** A page of a list; the cursor comes from the last row if there may be more. */
    static <T> HttpResponse pageResponse(List<T> rows, int limit, Function<T, JsonNode> view, Function<T, String> cursor) {
        ObjectNode out = newObject();
        ArrayNode items = out.putArray("items");
        rows.forEach(row -> items.add(view.apply(row)));
        out.put("next", rows.size() < limit || rows.isEmpty() ? null : cursor.apply(rows.getLast()));
        return ok(out);
    }

    /** A run with PII masked by this mask. */
    ObjectNode runJson(StoredRows.RunRow run, PiiMasks.PiiMask mask) {
        ObjectNode out = newObject();
        out.put("run_id", run.runIdText());
        out.put("workflow_id", run.workflowId());
        out.put("workflow", workflowName(run));
        out.put("version", run.version());
        out.put("status", run.state().wireName());
        out.set("waiting_for", WaitingForView.describe(run).maskWith(mask));
        out.put("key", run.origin().key());
        out.put("correlation_id", run.origin().correlationId());
        ObjectNode trigger = out.putObject("trigger")
                .put("kind", run.origin().triggerSource().name().toLowerCase(java.util.Locale.ROOT))
                .put("actor_id", run.origin().actor());
        if (run.depth() > 0) {
            trigger.put("depth", run.depth());
        }
        large(out, "input", UnmaskedValue.input(run), mask);
        large(out, "output", UnmaskedValue.output(run), mask);
        out.set("error", errorJson(run, mask));
        StoredRows.RunEnd end = run.end();
        out.put("created_at", formatTime(run.createdAt()));
        out.put("started_at", run.state() == dev.semel.workflow.RunState.QUEUED ? null : formatTime(run.createdAt()));
        out.put("ended_at", end == null ? null : formatTime(end.endedAt()));
        out.put("lineage_id", run.lineage().text());
        out.put("previous_run_id", run.previous() == null ? null : shown(run.ws(), run.previous()));
        out.put("duplicate_of", run.duplicateOf() == null ? null : shown(run.ws(), run.duplicateOf()));
        out.put("replay_of", run.replayOf() == null ? null : shown(run.ws(), run.replayOf()));
        out.put("parent_run_id", run.parent() == null ? null : shown(run.ws(), run.parent()));
        out.put("replays", run.counts().replays());
        out.put("conflicts", run.counts().conflicts());
        if (!mask.paths().isEmpty()) {
            mask.fieldNames().forEach(out.putArray("masked")::add);
        }
        return out;
    }

    /** Null if the run did not fail. */
    static JsonNode errorJson(StoredRows.RunRow run, PiiMasks.PiiMask mask) {
        StoredRows.RunEnd end = run.end();
        if (end == null || end.result().errorCode() == null) {
            return JsonNodeFactory.instance.nullNode();
        }
        JsonNode rest = UnmaskedValue.error(end.result()).maskWith(mask);
        return newObject().put("code", end.result().errorCode()).setAll((ObjectNode) rest);
    }

    /** Null with a note if the list query omitted the value because of its size. */
    private static void large(ObjectNode out, String name, UnmaskedValue value, PiiMasks.PiiMask mask) {
        out.set(name, value.maskWith(mask));
        if (value.isOmitted()) {
            out.put(name + "_omitted", true);
        }
    }

    /** The public id of another run. */
    private String shown(int workspace, RunId id) {
        StoredRows.RunRow run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? id.text() : run.runIdText();
    }

    private String workflowName(StoredRows.RunRow run) {
        return semel.version(run.workflowId(), run.version()).name();
    }

    /** A run with its Replayed and Conflict entries beside it, newest last. */
    ObjectNode runWithRequests(StoredRows.RunRow run) {
        return runWithRequests(run, masks.of(run));
    }

    /** A page of runs, newest first, with PII masked. */
    HttpResponse runPage(List<StoredRows.RunRow> page, int limit) {
        Map<RunId, PiiMasks.PiiMask> known = masks.of(page);
        return pageResponse(
                page,
                limit,
                run -> runWithRequests(run, Objects.requireNonNull(known.get(run.id()))),
                run -> PagingParameters.cursor(run.id()));
    }

    private ObjectNode runWithRequests(StoredRows.RunRow run, PiiMasks.PiiMask mask) {
        ObjectNode out = runJson(run, mask);
        out.set("requests", requestArray(run));
        return out;
    }

    /** A page of the requests of one run, newest last; the request that started the run is the first. */
    HttpResponse requestPage(StoredRows.RunRow run, PagingParameters paging) {
        List<StoreWrite.DuplicateRequest> rows = semel.view(reads -> reads.requestsOf(run.id(), paging.afterId(), paging.limit()));
        List<StoreWrite.DuplicateRequest> page = rows == null ? List.of() : rows;
        boolean more = page.size() == paging.limit();
        ObjectNode out = newObject();
        ArrayNode items = out.putArray("items");
        if (!more) {
            items.add(started(run));
        }
        page.forEach(row -> items.add(requestJson(row, null)));
        out.put("replays", run.counts().replays());
        out.put("conflicts", run.counts().conflicts());
        out.put("next", more ? PagingParameters.cursor(page.getFirst().id()) : null);
        return ok(out);
    }

    private static ObjectNode started(StoredRows.RunRow run) {
        ObjectNode out = newObject();
        out.put("kind", "started")
                .put("at", formatTime(run.createdAt()))
                .put("status_code", 200)
                .put("actor_id", run.origin().actor())
                .put("times", 1)
                .putArray("changed");
        return out;
    }

    ArrayNode requestArray(StoredRows.RunRow run) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode();
        boolean met = run.counts().replays() + run.counts().conflicts() > 0;
        List<StoreWrite.DuplicateRequest> rows =
                met ? semel.view(reads -> reads.requestsOf(run.id(), null, REQUESTS_SHOWN)) : List.<StoreWrite.DuplicateRequest>of();
        if (rows == null || rows.size() < REQUESTS_SHOWN) {
            out.add(started(run));
        }
        if (rows != null) {
            rows.forEach(row -> out.add(requestJson(row, null)));
        }
        return out;
    }

    ObjectNode requestJson(StoreWrite.DuplicateRequest row, @Nullable String runId) {
        ObjectNode out = newObject();
        if (runId != null) {
            out.put("run_id", runId);
        }
        out.put("kind", row.conflict() ? "conflict" : "replayed");
        out.put("at", formatTime(row.at()));
        out.put("status_code", row.statusCode());
        out.put("actor_id", row.actor());
        out.put("times", row.times());
        ArrayNode changed = out.putArray("changed");
        if (row.changed() != null) {
            for (String field : row.changed().split(", ")) {
                changed.add(field);
            }
        }
        return out;
    }

    /** A request with its run and the key of that run. */
    ObjectNode requestJson(int workspace, StoreWrite.DuplicateRequest row) {
        StoredRows.RunRow run = semel.view(reads -> reads.run(workspace, row.run()));
        ObjectNode out = requestJson(row, run == null ? row.run().text() : run.runIdText());
        out.put("key", run == null ? null : run.origin().key());
        return out;
    }

    ObjectNode keyJson(StoredRows.KeyRow held, long now) {
        KeyRecord known = held.keyRecord();
        KeyStatus standing = AdmissionRules.statusOf(known, now);
        ObjectNode out = newObject();
        out.put("idempotency_key", keyText(held));
        out.put("actor_id", held.actor());
        out.put(
                "operation_name",
                semel.version(known.workflowId(), known.version()).name());
        out.put("request_fingerprint", java.util.HexFormat.of().formatHex(known.digest()));
        out.put(
                "status",
                switch (standing) {
                    case LIVE, FAILED -> "active";
                    case EXPIRED -> "expired";
                    case RELEASED -> "released";
                });
        out.put("response_reference", known.runIdText());
        out.put("created_at", formatTime(known.firstAt()));
        out.put("expires_at", formatTime(known.expiresAt()));
        out.put("last_seen_at", formatTime(Math.max(known.firstAt(), held.counts().lastSeenAt())));
        out.put("correlation_id", held.correlationId());
        out.put("error_summary", held.errorCode() == null ? null : held.errorCode() + " in step " + held.errorStep());
        out.put("scope", held.key().kind() == dev.semel.store.UniqueKey.KeyKind.WORKFLOW_KEY ? "workflow" : "workspace");
        out.put("workflow_id", known.workflowId());
        out.put("run_id", known.runIdText());
        out.put("run_status", known.state().wireName());
        out.put("replays", held.counts().replays());
        out.put("conflicts", held.counts().conflicts());
        return out;
    }

    static String keyText(StoredRows.KeyRow held) {
        String text = held.key().text();
        int newline = text.indexOf('\n');
        return newline < 0 ? text : text.substring(0, newline);
    }

    /** Finds a run by its generated or chosen id. */
    StoredRows.RunRow findRun(Principal who, String runId) {
        StoredRows.RunRow run = null;
        RunId id = RunId.parse(runId);
        if (id != null) {
            run = semel.view(reads -> reads.run(who.workspace(), id));
        }
        if (run == null) {
            run = semel.view(reads -> {
                var name = new dev.semel.store.UniqueKey(who.workspace(), dev.semel.store.UniqueKey.KeyKind.RUN, runId);
                KeyRecord known = reads.findKeys(List.of(name)).keyRecords().getFirst();
                return known == null ? null : reads.run(who.workspace(), known.run());
            });
        }
        if (run == null) {
            throw gone(id);
        }
        return run;
    }

    /** A generated id contains its creation time, which separates a run deleted by retention from a typo. */
    private SemelException gone(@Nullable RunId id) {
        Long now = semel.view(reads -> reads.now());
        long began = id == null ? 0 : id.high() >>> TIME_SHIFT;
        if (now == null || began < EARLIEST || began > now) {
            return new SemelException(
                    ErrorCode.NOT_FOUND,
                    "No run with this id exists in this workspace. Nothing was changed.",
                    "Check the id. GET /v1/runs lists the runs.");
        }
        return new SemelException(
                        ErrorCode.NOT_FOUND,
                        "This run is not in this workspace: retention deleted it, or the workspace is wrong.",
                        "Check the id and the workspace. The retention settings define how long runs are kept.")
                .with("began_at", String.valueOf(formatTime(began)));
    }
}
