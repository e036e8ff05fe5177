package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.Admission;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.Known;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.language.Durations;
import dev.semel.store.Rows;
import dev.semel.trigger.Door;
import dev.semel.trigger.Rehearsed;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
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
final class KeyFuture {
    private static final Duration LONGEST = Duration.ofDays(3_650);

    private final Semel semel;
    private final Spaces spaces;

    KeyFuture(Semel semel, Spaces spaces) {
        this.semel = semel;
        this.spaces = spaces;
    }

    Answer simulate(Request request) {
        Said body = Said.in(request, Set.of("at", "after", "data", "workflow", "strict"));
        IdempotencyKey key = IdempotencyKey.of(request.parameter("key"));
        int ws = request.principal().workspace();
        List<Rows.Held> known = Objects.requireNonNull(semel.view(reads -> reads.key(ws, key.text())));
        Current workflow = workflow(request, body, known);
        JsonNode data = data(ws, body, workflow, known);
        boolean strict = body.value("strict") instanceof JsonNode flag && flag.asBoolean(false);
        Trigger trigger = new Trigger(
                spaces.of(ws),
                workflow,
                data,
                Json.write(data),
                new Trigger.Names(key, null),
                new Trigger.Sender(Door.HTTP, request.principal().tokenId(), null),
                strict,
                Trigger.Checks.NONE);
        return Views.ok(outcomeJson(key, workflow, data, semel.rehearsal().of(trigger, at(body))));
    }

    /** Simulates a repeat of the key's first request now; null if its run or workflow is no longer stored. */
    @Nullable
    ObjectNode now(Rows.Held held) {
        int ws = held.name().workspace();
        Current workflow = semel.workflow(ws, held.known().workflowId());
        Rows.Run run = semel.view(reads -> reads.run(ws, held.known().run()));
        if (workflow == null || run == null) {
            return null;
        }
        IdempotencyKey key = IdempotencyKey.of(Views.keyText(held));
        JsonNode data = Json.parse(run.input());
        Trigger trigger = new Trigger(
                spaces.of(ws),
                workflow,
                data,
                run.input(),
                new Trigger.Names(key, null),
                new Trigger.Sender(Door.HTTP, "", null),
                false,
                Trigger.Checks.NONE);
        return outcomeJson(key, workflow, data, semel.rehearsal().of(trigger, 0));
    }

    private Current workflow(Request request, Said body, List<Rows.Held> known) {
        String named = body.text("workflow").isEmpty() ? request.query("workflow") : body.text("workflow");
        if (named == null && known.isEmpty()) {
            throw RunActs.refused("the server has no record of this key, so the request must name the workflow");
        }
        String idOrName = named == null ? known.getFirst().known().workflowId() : named;
        Current workflow = semel.workflow(request.principal().workspace(), idOrName);
        if (workflow == null) {
            throw Triggers.unknownWorkflow();
        }
        return workflow;
    }

    /** The data of the request, or else of the first request with the key. */
    private JsonNode data(int ws, Said body, Current workflow, List<Rows.Held> known) {
        JsonNode given = body.value("data");
        if (given != null && !given.isNull()) {
            if (!given.isObject()) {
                throw RunActs.refused("data must be an object");
            }
            return given;
        }
        for (Rows.Held held : known) {
            boolean same = held.known().workflowId().equals(workflow.published().workflowId()) || known.size() == 1;
            Rows.Run run = same ? semel.view(reads -> reads.run(ws, held.known().run())) : null;
            if (run != null) {
                return Json.parse(run.input());
            }
        }
        return JsonNodeFactory.instance.objectNode();
    }

    private long at(Said body) {
        String at = body.text("at");
        String after = body.text("after");
        if (!at.isEmpty() && !after.isEmpty()) {
            throw RunActs.refused("send either at or after, not both");
        }
        if (!at.isEmpty()) {
            return Times.micros(at);
        }
        return after.isEmpty() ? 0 : Objects.requireNonNull(semel.view(reads -> reads.now())) + Times.length(after);
    }

    /** Parses times and durations from request bodies. */
    static final class Times {
        private Times() {}

        static long micros(String text) {
            try {
                var at = OffsetDateTime.parse(text).toInstant();
                return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000L), at.getNano() / 1_000);
            } catch (DateTimeException | ArithmeticException e) {
                throw RunActs.refused("a time must be written like 2026-03-01T09:00:00Z");
            }
        }

        static long length(String text) {
            Duration length = Durations.parse(text).orElse(null);
            if (length == null || length.compareTo(LONGEST) > 0) {
                throw RunActs.refused("a duration must be written like 30s, 15m, 24h or 7d");
            }
            return length.toNanos() / 1_000;
        }
    }

    private static ObjectNode outcomeJson(IdempotencyKey key, Current workflow, JsonNode data, Rehearsed outcome) {
        ObjectNode out = Views.object();
        out.put("idempotency_key", key.text());
        out.put("workflow", workflow.published().name());
        out.put("at", Views.time(outcome.at()));
        switch (outcome.decided()) {
            case Admission.Fresh _ -> fresh(out, workflow, data, outcome);
            case Admission.Repeat repeat -> {
                out.put("outcome", "replayed").put("status_code", 200);
                out.put("run_id", repeat.known().runIdText());
                out.put("payload_mismatch", repeat.mismatch());
                changed(out, repeat.changed());
                out.put("expires_at", Views.time(repeat.known().expiresAt()));
                out.put(
                        "sentence",
                        "200: the server returns run " + repeat.known().runIdText()
                                + (repeat.mismatch()
                                        ? ", although the data differ in " + String.join(", ", repeat.changed())
                                        : "")
                                + condition(outcome) + ". No new run starts.");
            }
            case Admission.Conflict conflict -> {
                out.put("outcome", "conflict").put("status_code", 422);
                out.put("run_id", conflict.known().runIdText());
                out.put("reason", conflict.reason().name().toLowerCase(Locale.ROOT));
                changed(out, conflict.changed());
                out.put("sentence", "422: " + conflictReason(conflict) + " No new run starts.");
            }
            case Admission.SamePayload same -> {
                out.put("outcome", "duplicate_payload").put("status_code", 409);
                out.put("run_id", same.known().runIdText());
                out.put(
                        "sentence",
                        "409: the same payload started " + same.known().runIdText()
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

    private static String condition(Rehearsed outcome) {
        return outcome.supposed() ? ", if it has not ended by then" : "";
    }

    private static void fresh(ObjectNode out, Current workflow, JsonNode data, Rehearsed outcome) {
        try {
            FileWorkflow.check(workflow.published(), data);
        } catch (SemelException e) {
            out.put("outcome", "refused").put("status_code", e.code().status());
            out.put("reason", e.code().slug());
            out.put("sentence", "400: the data do not match the workflow's input. No run starts. The key stays free.");
            return;
        }
        Known previous = outcome.previous();
        out.put("outcome", "new_run").put("status_code", 200);
        out.put("previous_run_id", previous == null ? null : previous.runIdText());
        out.put("reason", outcome.why() == null ? "new" : outcome.why().name().toLowerCase(Locale.ROOT));
        out.put("expires_at", Views.time(outcome.until()));
        out.put("sentence", "200: a new run starts" + because(outcome.why()) + ".");
    }

    private static String because(@Nullable Standing why) {
        return switch (why) {
            case null -> ", because no run has the key";
            case LIVE -> "";
            case EXPIRED -> ", because the window of the key has ended by then";
            case RELEASED -> ", because the key was released";
            case FAILED -> " in the lineage of the failed run, because the workflow has on_failed: run_again";
        };
    }
}
