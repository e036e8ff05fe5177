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

/** What would happen if a key came now, later, or with other data. It is decided as in earnest, and nothing happens. */
final class KeyFuture {
    private static final Duration LONGEST = Duration.ofDays(3_650);

    private final Semel semel;
    private final Spaces spaces;

    KeyFuture(Semel semel, Spaces spaces) {
        this.semel = semel;
        this.spaces = spaces;
    }

    Answer simulate(Request request) {
        Said said = Said.in(request, Set.of("at", "after", "data", "workflow", "strict"));
        IdempotencyKey key = IdempotencyKey.of(request.parameter("key"));
        int ws = request.principal().workspace();
        List<Rows.Held> known = Objects.requireNonNull(semel.view(reads -> reads.key(ws, key.text())));
        Current workflow = workflow(request, said, known);
        JsonNode data = data(ws, said, workflow, known);
        boolean strict = said.value("strict") instanceof JsonNode flag && flag.asBoolean(false);
        Trigger trigger = new Trigger(
                spaces.of(ws),
                workflow,
                data,
                Json.write(data),
                new Trigger.Names(key, null),
                new Trigger.Sender(Door.HTTP, request.principal().tokenId(), null),
                strict,
                Trigger.Checks.NONE);
        return Views.ok(told(key, workflow, data, semel.rehearsal().of(trigger, at(said))));
    }

    /** If it came again this moment, as it came first; null where that cannot be told any more. */
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
        return told(key, workflow, data, semel.rehearsal().of(trigger, 0));
    }

    private Current workflow(Request request, Said said, List<Rows.Held> known) {
        String named = said.text("workflow").isEmpty() ? request.query("workflow") : said.text("workflow");
        if (named == null && known.isEmpty()) {
            throw RunActs.refused("this key is not on record, so workflow says which one it would be sent to");
        }
        String wanted = named == null ? known.getFirst().known().workflowId() : named;
        Current workflow = semel.workflow(request.principal().workspace(), wanted);
        if (workflow == null) {
            throw Triggers.unknownWorkflow();
        }
        return workflow;
    }

    /** What is sent, or what was sent first. */
    private JsonNode data(int ws, Said said, Current workflow, List<Rows.Held> known) {
        JsonNode given = said.value("data");
        if (given != null && !given.isNull()) {
            if (!given.isObject()) {
                throw RunActs.refused("data is an object");
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

    private long at(Said said) {
        String at = said.text("at");
        String after = said.text("after");
        if (!at.isEmpty() && !after.isEmpty()) {
            throw RunActs.refused("at and after say the same thing twice; send one of them");
        }
        if (!at.isEmpty()) {
            return Times.micros(at);
        }
        return after.isEmpty() ? 0 : Objects.requireNonNull(semel.view(reads -> reads.now())) + Times.length(after);
    }

    /** Times as callers write them. */
    static final class Times {
        private Times() {}

        static long micros(String text) {
            try {
                var at = OffsetDateTime.parse(text).toInstant();
                return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000L), at.getNano() / 1_000);
            } catch (DateTimeException | ArithmeticException e) {
                throw RunActs.refused("a time is written like 2026-03-01T09:00:00Z");
            }
        }

        static long length(String text) {
            Duration length = Durations.parse(text).orElse(null);
            if (length == null || length.compareTo(LONGEST) > 0) {
                throw RunActs.refused("a length of time is written like 30s, 15m, 24h or 7d");
            }
            return length.toNanos() / 1_000;
        }
    }

    private static ObjectNode told(IdempotencyKey key, Current workflow, JsonNode data, Rehearsed outcome) {
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
                        "200: the run " + repeat.known().runIdText() + " is answered"
                                + (repeat.mismatch()
                                        ? ", though the data differ in " + String.join(", ", repeat.changed())
                                        : "")
                                + supposing(outcome) + ". Nothing would start.");
            }
            case Admission.Conflict conflict -> {
                out.put("outcome", "conflict").put("status_code", 422);
                out.put("run_id", conflict.known().runIdText());
                out.put("reason", conflict.reason().name().toLowerCase(Locale.ROOT));
                changed(out, conflict.changed());
                out.put("sentence", "422: " + refusal(conflict) + " Nothing would start.");
            }
            case Admission.SamePayload same -> {
                out.put("outcome", "duplicate_payload").put("status_code", 409);
                out.put("run_id", same.known().runIdText());
                out.put(
                        "sentence",
                        "409: the same payload started " + same.known().runIdText()
                                + " under another key. Nothing would start.");
            }
        }
        return out.put("changes_nothing", true);
    }

    private static void changed(ObjectNode out, List<String> fields) {
        var list = out.putArray("changed");
        fields.forEach(list::add);
    }

    private static String refusal(Admission.Conflict conflict) {
        return switch (conflict.reason()) {
            case PAYLOAD -> "the data differ in " + String.join(", ", conflict.changed()) + ".";
            case WORKFLOW -> "the key stands for a run of another workflow.";
            case RUN_ID -> "the key stands for another run_id.";
        };
    }

    private static String supposing(Rehearsed outcome) {
        return outcome.supposed() ? ", as long as it has not ended by then" : "";
    }

    private static void fresh(ObjectNode out, Current workflow, JsonNode data, Rehearsed outcome) {
        try {
            FileWorkflow.check(workflow.published(), data);
        } catch (SemelException e) {
            out.put("outcome", "refused").put("status_code", e.code().status());
            out.put("reason", e.code().slug());
            out.put("sentence", "400: the data do not fit the workflow. Nothing would start, and the key stays free.");
            return;
        }
        Known previous = outcome.previous();
        out.put("outcome", "new_run").put("status_code", 200);
        out.put("previous_run_id", previous == null ? null : previous.runIdText());
        out.put("reason", outcome.why() == null ? "new" : outcome.why().name().toLowerCase(Locale.ROOT));
        out.put("expires_at", Views.time(outcome.until()));
        out.put("sentence", "200: a new run would start" + because(outcome.why()) + ".");
    }

    private static String because(@Nullable Standing why) {
        return switch (why) {
            case null -> ", since nobody holds the key";
            case LIVE -> "";
            case EXPIRED -> ", because the window of the key is over by then";
            case RELEASED -> ", because the key was released";
            case FAILED -> " in the line of the failed one, because the workflow says on_failed: run_again";
        };
    }
}
