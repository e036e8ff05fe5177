package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.Admission;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.IdempotencyKey;
import dev.semel.admission.KeyRecord;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.expressions.DurationFormat;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.TriggerPreview;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Simulates a trigger with a key, now, at a later time or with other data. It runs the real admission and changes
 * nothing.
 */
final class KeySimulation {
    private static final Duration LONGEST = Duration.ofDays(3_650);

    private final SemelRuntime semel;
    private final WorkspaceCache spaces;

    KeySimulation(SemelRuntime semel, WorkspaceCache spaces) {
        this.semel = semel;
        this.spaces = spaces;
    }

    HttpResponse simulate(HttpRequest request) {
        JsonBody body = JsonBody.parse(request, Set.of("at", "after", "data", "workflow", "strict"));
        IdempotencyKey key = IdempotencyKey.of(request.parameter("key"));
        int ws = request.principal().workspace();
        List<StoredRows.KeyRow> known = Objects.requireNonNull(semel.view(reads -> reads.keyRecords(ws, key.text())));
        CurrentWorkflow workflow = workflow(request, body, known);
        JsonNode data = data(ws, body, workflow, known);
        boolean strict = body.value("strict") instanceof JsonNode flag && flag.asBoolean(false);
        Trigger trigger = new Trigger(
                spaces.get(ws),
                workflow,
                data,
                StrictJson.write(data),
                new Trigger.Identifiers(key, null),
                new Trigger.Sender(TriggerSource.HTTP, request.principal().tokenId(), null),
                strict,
                Trigger.AdmissionChecks.NONE);
        return JsonViews.ok(outcomeJson(key, workflow, data, semel.triggerDryRun().preview(trigger, at(body))));
    }

    /** Simulates a repeat of the key's first request now; null if its run or workflow is no longer stored. */
    @Nullable
    ObjectNode simulateNow(StoredRows.KeyRow held) {
        int ws = held.key().workspace();
        CurrentWorkflow workflow = semel.workflow(ws, held.keyRecord().workflowId());
        StoredRows.RunRow run = semel.view(reads -> reads.run(ws, held.keyRecord().run()));
        if (workflow == null || run == null) {
            return null;
        }
        IdempotencyKey key = IdempotencyKey.of(JsonViews.keyText(held));
        JsonNode data = StrictJson.parse(run.input());
        Trigger trigger = new Trigger(
                spaces.get(ws),
                workflow,
                data,
                run.input(),
                new Trigger.Identifiers(key, null),
                new Trigger.Sender(TriggerSource.HTTP, "", null),
                false,
                Trigger.AdmissionChecks.NONE);
        return outcomeJson(key, workflow, data, semel.triggerDryRun().preview(trigger, 0));
    }

    private CurrentWorkflow workflow(HttpRequest request, JsonBody body, List<StoredRows.KeyRow> known) {
        String named = body.text("workflow").isEmpty() ? request.query("workflow") : body.text("workflow");
        if (named == null && known.isEmpty()) {
            throw RunActionRoutes.invalidRequest("the server has no record of this key, so the request must name the workflow");
        }
        String idOrName = named == null ? known.getFirst().keyRecord().workflowId() : named;
        CurrentWorkflow workflow = semel.workflow(request.principal().workspace(), idOrName);
        if (workflow == null) {
            throw TriggerRoutes.unknownWorkflow();
        }
        return workflow;
    }

    /** The data of the request, or else of the first request with the key. */
    private JsonNode data(int ws, JsonBody body, CurrentWorkflow workflow, List<StoredRows.KeyRow> known) {
        JsonNode given = body.value("data");
        if (given != null && !given.isNull()) {
            if (!given.isObject()) {
                throw RunActionRoutes.invalidRequest("data must be an object");
            }
            return given;
        }
        for (StoredRows.KeyRow held : known) {
            boolean same = held.keyRecord().workflowId().equals(workflow.published().workflowId()) || known.size() == 1;
            StoredRows.RunRow run = same ? semel.view(reads -> reads.run(ws, held.keyRecord().run())) : null;
            if (run != null) {
                return StrictJson.parse(run.input());
            }
        }
        return JsonNodeFactory.instance.objectNode();
    }

    private long at(JsonBody body) {
        String at = body.text("at");
        String after = body.text("after");
        if (!at.isEmpty() && !after.isEmpty()) {
            throw RunActionRoutes.invalidRequest("send either at or after, not both");
        }
        if (!at.isEmpty()) {
            return TimeParser.parseTime(at);
        }
        return after.isEmpty() ? 0 : Objects.requireNonNull(semel.view(reads -> reads.now())) + TimeParser.parseDuration(after);
    }

    /** Parses times and durations from request bodies. */
    static final class TimeParser {
        private TimeParser() {}

        static long parseTime(String text) {
            try {
                var at = OffsetDateTime.parse(text).toInstant();
                return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000L), at.getNano() / 1_000);
            } catch (DateTimeException | ArithmeticException e) {
                throw RunActionRoutes.invalidRequest("a time must be written like 2026-03-01T09:00:00Z");
            }
        }

        static long parseDuration(String text) {
            Duration length = DurationFormat.parse(text).orElse(null);
            if (length == null || length.compareTo(LONGEST) > 0) {
                throw RunActionRoutes.invalidRequest("a duration must be written like 30s, 15m, 24h or 7d");
            }
            return length.toNanos() / 1_000;
        }
    }

    private static ObjectNode outcomeJson(IdempotencyKey key, CurrentWorkflow workflow, JsonNode data, TriggerPreview outcome) {
        ObjectNode out = JsonViews.newObject();
        out.put("idempotency_key", key.text());
        out.put("workflow", workflow.published().name());
        out.put("at", JsonViews.formatTime(outcome.at()));
        switch (outcome.admission()) {
            case Admission.Fresh _ -> fresh(out, workflow, data, outcome);
            case Admission.Repeat repeat -> {
                out.put("outcome", "replayed").put("status_code", 200);
                out.put("run_id", repeat.keyRecord().runIdText());
                out.put("payload_mismatch", repeat.mismatch());
                changed(out, repeat.changed());
                out.put("expires_at", JsonViews.formatTime(repeat.keyRecord().expiresAt()));
                out.put(
                        "sentence",
                        "200: the server returns run " + repeat.keyRecord().runIdText()
                                + (repeat.mismatch()
                                        ? ", although the data differ in " + String.join(", ", repeat.changed())
                                        : "")
                                + condition(outcome) + ". No new run starts.");
            }
            case Admission.Conflict conflict -> {
                out.put("outcome", "conflict").put("status_code", 422);
                out.put("run_id", conflict.keyRecord().runIdText());
                out.put("reason", conflict.reason().name().toLowerCase(Locale.ROOT));
                changed(out, conflict.changed());
                out.put("sentence", "422: " + conflictReason(conflict) + " No new run starts.");
            }
            case Admission.SamePayload same -> {
                out.put("outcome", "duplicate_payload").put("status_code", 409);
                out.put("run_id", same.keyRecord().runIdText());
                out.put(
                        "sentence",
                        "409: the same payload started " + same.keyRecord().runIdText()
                                + " under another key. No new run starts.");
            }
        }
        return out.put("changes_nothing", true);
    }

    private static void changed(ObjectNode out, List<String> fields) {
        var list = out.putArray("changed");
        fields.forEach(list::add);
    }

    private static String conflictReason(Admission.Conflict conflict) {
        return switch (conflict.reason()) {
            case PAYLOAD -> "the data differ in " + String.join(", ", conflict.changed()) + ".";
            case WORKFLOW -> "the key belongs to a run of another workflow.";
            case RUN_ID -> "the key belongs to another run_id.";
        };
    }

    private static String condition(TriggerPreview outcome) {
        return outcome.assumesRunUnfinished() ? ", if it has not ended by then" : "";
    }

    private static void fresh(ObjectNode out, CurrentWorkflow workflow, JsonNode data, TriggerPreview outcome) {
        try {
            FileWorkflow.checkInput(workflow.published(), data);
        } catch (SemelException e) {
            out.put("outcome", "refused").put("status_code", e.code().status());
            out.put("reason", e.code().slug());
            out.put("sentence", "400: the data do not match the workflow's input. No run starts. The key stays free.");
            return;
        }
        KeyRecord previous = outcome.previousKey();
        out.put("outcome", "new_run").put("status_code", 200);
        out.put("previous_run_id", previous == null ? null : previous.runIdText());
        out.put("reason", outcome.keyStatus() == null ? "new" : outcome.keyStatus().name().toLowerCase(Locale.ROOT));
        out.put("expires_at", JsonViews.formatTime(outcome.keyExpiresAt()));
        out.put("sentence", "200: a new run starts" + because(outcome.keyStatus()) + ".");
    }

    private static String because(@Nullable KeyStatus why) {
        return switch (why) {
            case null -> ", because no run has the key";
            case LIVE -> "";
            case EXPIRED -> ", because the window of the key has ended by then";
            case RELEASED -> ", because the key was released";
            case FAILED -> " in the lineage of the failed run, because the workflow has on_failed: run_again";
        };
    }
}
