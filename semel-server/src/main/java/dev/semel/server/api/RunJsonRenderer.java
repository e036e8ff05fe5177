package dev.semel.server.api;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.admission.TriggerSource;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.ingress.RunNotificationEvents;
import dev.semel.store.DatabaseRows;
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
final class RunJsonRenderer {
    static final int REQUESTS_SHOWN = 20;

    /** The number of counter bits below the microseconds of an id. */
    private static final int TIME_SHIFT = 12;

    /** 2024: Semel created no id before that. */
    private static final long EARLIEST = 1_704_067_200_000_000L;

    private final SemelRuntime semel;
    private final RunPiiMaskFactory masks;

    RunJsonRenderer(SemelRuntime semel) {
        this.semel = semel;
        this.masks = new RunPiiMaskFactory(semel);
    }

    /** The steps of a run, with PII masked. */
    ObjectNode stepsJson(
            DatabaseRows.RunRow run, RunTimelineJsonRenderer timeline, RunTimelineJsonRenderer.StepRange part) {
        return timeline.toJson(part, masks.of(run));
    }

    static ObjectNode newObject() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ServerHttpResponse ok(JsonNode body) {
        return ServerHttpResponse.json(200, StrictJsonCodec.bytes(body));
    }

    /** With the headers of a replayed response if it is one. */
    static ServerHttpResponse ok(JsonNode body, boolean replayed) {
        ServerHttpResponse plain = ok(body);
        return replayed ? plain.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true") : plain;
    }

    static @Nullable String formatTime(long micros) {
        return micros == 0 || micros == RunDeduplicationKeyClaim.FOREVER
                ? null
                : Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000)
                        .toString();
    }

    /** A page of a list; the cursor comes from the last row if there may be more. */
    static <T> ServerHttpResponse pageResponse(
            List<T> rows, int limit, Function<T, JsonNode> view, Function<T, String> cursor) {
        boolean last = rows.size() < limit || rows.isEmpty();
        return ok(pageJson(rows, view, last ? null : cursor.apply(rows.getLast())));
    }

    /** @param next the cursor of the next page; null at the end */
    static <T> ObjectNode pageJson(List<T> rows, Function<T, JsonNode> view, @Nullable String next) {
        ObjectNode out = newObject();
        rows.stream().map(view).forEach(out.putArray("items")::add);
        return out.put("next", next);
    }

    ObjectNode runJson(DatabaseRows.RunRow run, PiiMask mask) {
        ObjectNode out = newObject();
        out.put("run_id", run.runIdText());
        out.put("workflow_id", run.workflowId());
        out.put("workflow", workflowName(run));
        out.put("version", run.version());
        out.put("status", run.state().wireName());
        out.set("waiting_for", RunWaitReasonJsonRenderer.describe(run).maskWith(mask));
        out.put("key", run.origin().key());
        out.put("correlation_id", run.origin().correlationId());
        ObjectNode trigger = out.putObject("trigger")
                .put("kind", run.origin().triggerSource().name().toLowerCase(java.util.Locale.ROOT))
                .put("actor_id", run.origin().actor());
        String notifier = RunNotificationEvents.runIdOf(run.origin().actor());
        if (run.origin().triggerSource() == TriggerSource.EVENT && notifier != null) {
            trigger.put("run_id", notifier);
        }
        if (run.depth() > 0) {
            trigger.put("depth", run.depth());
        }
        large(out, "input", UnmaskedPiiValue.input(run), mask);
        large(out, "output", UnmaskedPiiValue.output(run), mask);
        JsonNode error = errorJson(run, mask);
        out.set("error", error);
        String resendUntil = resendUntil(run);
        out.put("safe_to_resend_until", resendUntil);
        if (error instanceof ObjectNode failure && run.hasUnknownOutcome()) {
            failure.put("safe_to_resend_until", resendUntil);
        }
        DatabaseRows.RunEnd end = run.end();
        out.put("created_at", formatTime(run.createdAt()));
        out.put("started_at", run.startedAt() == null ? null : formatTime(run.startedAt()));
        out.put("ended_at", end == null ? null : formatTime(end.endedAt()));
        out.put("lineage_id", run.lineage().text());
        out.put("previous_run_id", shown(run.ws(), run.previous()));
        out.put("duplicate_of", shown(run.ws(), run.duplicateOf()));
        out.put("replay_of", shown(run.ws(), run.replayOf()));
        out.put("parent_run_id", shown(run.ws(), run.parent()));
        out.put("replays", run.counts().replays());
        out.put("conflicts", run.counts().conflicts());
        if (!mask.paths().isEmpty()) {
            mask.fieldNames().forEach(out.putArray("masked")::add);
        }
        return out;
    }

    /** Null unless the run has an effect with an unknown outcome that is safe to send again with the same key. */
    private @Nullable String resendUntil(DatabaseRows.RunRow run) {
        boolean open = run.state() == dev.semel.run.RunState.WAITING
                || run.state() == dev.semel.run.RunState.CANCELLED
                || run.hasUnknownOutcome();
        if (!open) {
            return null;
        }
        long until = StoreReader.read(semel, reads -> reads.resendUntil(run.id()));
        return until == 0 ? null : formatTime(until);
    }

    /** Null if the run did not fail. */
    static JsonNode errorJson(DatabaseRows.RunRow run, PiiMask mask) {
        DatabaseRows.RunEnd end = run.end();
        if (end == null || end.result().errorCode() == null) {
            return JsonNodeFactory.instance.nullNode();
        }
        JsonNode rest = UnmaskedPiiValue.error(end.result()).maskWith(mask);
        return newObject().put("code", end.result().errorCode()).setAll((ObjectNode) rest);
    }

    /** Null with a note if the list query omitted the value because of its size. */
    private static void large(ObjectNode out, String name, UnmaskedPiiValue value, PiiMask mask) {
        out.set(name, value.maskWith(mask));
        if (value.isOmitted()) {
            out.put(name + "_omitted", true);
        }
    }

    /** The public id of another run. */
    private @Nullable String shown(int workspace, @Nullable RunId id) {
        if (id == null) {
            return null;
        }
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? id.text() : run.runIdText();
    }

    private String workflowName(DatabaseRows.RunRow run) {
        return semel.version(run.workflowId(), run.version()).name();
    }

    /** A run with its Replayed and Conflict entries beside it, newest last. */
    ObjectNode runWithRequests(DatabaseRows.RunRow run) {
        return runWithRequests(run, masks.of(run));
    }

    /** A page of runs, newest first, with PII masked. */
    ServerHttpResponse runPage(List<DatabaseRows.RunRow> page, int limit) {
        Map<RunId, PiiMask> known = masks.of(page);
        return pageResponse(
                page,
                limit,
                run -> runWithRequests(run, Objects.requireNonNull(known.get(run.id()))),
                run -> PagingParameters.cursor(run.id()));
    }

    private ObjectNode runWithRequests(DatabaseRows.RunRow run, PiiMask mask) {
        ObjectNode out = runJson(run, mask);
        out.set("requests", requestArray(run));
        return out;
    }

    /** A page of the requests of one run, newest last; the request that started the run is the first. */
    ServerHttpResponse requestPage(DatabaseRows.RunRow run, PagingParameters paging) {
        List<StoreWrite.DuplicateRequest> page =
                StoreReader.read(semel, reads -> reads.requestsOf(run.id(), paging.afterId(), paging.limit()));
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

    private static ObjectNode started(DatabaseRows.RunRow run) {
        ObjectNode out = newObject();
        out.put("kind", "started")
                .put("at", formatTime(run.createdAt()))
                .put("status_code", 200)
                .put("actor_id", run.origin().actor())
                .put("times", 1)
                .putArray("changed");
        return out;
    }

    ArrayNode requestArray(DatabaseRows.RunRow run) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode();
        boolean met = run.counts().replays() + run.counts().conflicts() > 0;
        List<StoreWrite.DuplicateRequest> rows =
                met ? StoreReader.read(semel, reads -> reads.requestsOf(run.id(), null, REQUESTS_SHOWN)) : List.of();
        if (rows.size() < REQUESTS_SHOWN) {
            out.add(started(run));
        }
        rows.forEach(row -> out.add(requestJson(row, null)));
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
            List.of(row.changed().split(", ")).forEach(changed::add);
        }
        return out;
    }

    /** A request with its run and the key of that run. */
    ObjectNode requestJson(int workspace, StoreWrite.DuplicateRequest row) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(workspace, row.run()));
        ObjectNode out = requestJson(row, run == null ? row.run().text() : run.runIdText());
        out.put(
                "key",
                row.rejectedKey() != null
                        ? row.rejectedKey()
                        : run == null ? null : run.origin().key());
        return out;
    }

    ObjectNode keyJson(DatabaseRows.KeyRow held, long now) {
        RunDeduplicationKeyRecord keyRecord = held.keyRecord();
        KeyStatus status = TriggerAdmissionRules.statusOf(keyRecord, now);
        ObjectNode out = newObject();
        out.put("idempotency_key", keyText(held));
        out.put("actor_id", held.actor());
        out.put(
                "operation_name",
                semel.version(keyRecord.workflowId(), keyRecord.version()).name());
        out.put("request_fingerprint", java.util.HexFormat.of().formatHex(keyRecord.digest()));
        out.put(
                "status",
                switch (status) {
                    case LIVE, FAILED -> "active";
                    case EXPIRED -> "expired";
                    case RELEASED -> "released";
                });
        out.put("response_reference", keyRecord.runIdText());
        out.put("created_at", formatTime(keyRecord.firstAt()));
        out.put("expires_at", formatTime(keyRecord.expiresAt()));
        out.put(
                "last_seen_at",
                formatTime(Math.max(keyRecord.firstAt(), held.counts().lastSeenAt())));
        out.put("correlation_id", held.correlationId());
        out.put("error_summary", held.errorCode() == null ? null : held.errorCode() + " in step " + held.errorStep());
        out.put("scope", held.key().kind() == RunDeduplicationKey.KeyKind.WORKFLOW_KEY ? "workflow" : "workspace");
        out.put("workflow_id", keyRecord.workflowId());
        out.put("run_id", keyRecord.runIdText());
        out.put("run_status", keyRecord.state().wireName());
        out.put("replays", held.counts().replays());
        out.put("conflicts", held.counts().conflicts());
        return out;
    }

    static String keyText(DatabaseRows.KeyRow held) {
        String text = held.key().text();
        int newline = text.indexOf('\n');
        return newline < 0 ? text : text.substring(0, newline);
    }

    /** Finds a run by its generated or chosen id. */
    DatabaseRows.RunRow findRun(Principal who, String runId) {
        return ApiErrors.orThrow(findRunOrNull(who.workspace(), runId), () -> gone(RunId.parse(runId)));
    }

    private DatabaseRows.@Nullable RunRow findRunOrNull(int workspace, String runId) {
        RunId id = RunId.parse(runId);
        DatabaseRows.RunRow run = id == null ? null : semel.view(reads -> reads.run(workspace, id));
        if (run != null) {
            return run;
        }
        RunDeduplicationKey name = new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.RUN, runId);
        return semel.view(reads -> {
            RunDeduplicationKeyRecord keyRecord =
                    reads.findKeys(List.of(name)).keyRecords().getFirst();
            return keyRecord == null ? null : reads.run(workspace, keyRecord.run());
        });
    }

    /** The mask for data that a run published. If the run is deleted, its PII is unknown and everything is masked. */
    PiiMask maskOfRun(int workspace, String runId) {
        DatabaseRows.RunRow run = findRunOrNull(workspace, runId);
        return run == null ? PiiMask.ALL : masks.of(run);
    }

    /** A generated id contains its creation time, which separates a run deleted by retention from a typo. */
    private SemelException gone(@Nullable RunId id) {
        long began = id == null ? 0 : id.high() >>> TIME_SHIFT;
        if (began < EARLIEST || began > StoreReader.now(semel)) {
            return ApiErrors.notFound(
                    "No run with this id exists in this workspace. Nothing was changed.",
                    "Check the id. GET /v1/runs lists the runs.");
        }
        return ApiErrors.notFound(
                        "This run is not in this workspace: retention deleted it, or the workspace is wrong.",
                        "Check the id and the workspace. The retention settings define how long runs are kept.")
                .with("began_at", String.valueOf(formatTime(began)));
    }
}
