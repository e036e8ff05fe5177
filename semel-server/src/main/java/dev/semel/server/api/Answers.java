package dev.semel.server.api;

import dev.semel.key.IdempotencyKey;
import dev.semel.store.Rows;
import dev.semel.store.Wish;
import dev.semel.trigger.Answer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the JSON body and the headers of the HTTP response to a trigger. */
final class Answers {
    private Answers() {}

    static ObjectNode body(Answer answer, List<String> warnings) {
        ObjectNode out = Views.object();
        out.put("run_id", answer.runId());
        out.put("status", answer.state().word());
        out.put("workflow_id", answer.workflowId());
        out.put("idempotent_replayed", answer.replayed());
        if (answer.mismatch()) {
            out.put("payload_mismatch", true);
            var changed = out.putArray("changed");
            answer.changed().forEach(changed::add);
        }
        if (answer.previousRunId() != null) {
            out.put("previous_run_id", answer.previousRunId());
        }
        if (answer.duplicateOf() != null) {
            out.put("duplicate_of", answer.duplicateOf());
        }
        if (!warnings.isEmpty()) {
            var list = out.putArray("warnings");
            warnings.forEach(list::add);
        }
        return out;
    }

    /** Adds the status of the run and, once it has ended, its output or error. */
    static void live(ObjectNode out, Rows.Run run) {
        out.put("status", run.state().word());
        Rows.End end = run.end();
        if (end == null) {
            out.set("waiting_for", WaitingFor.of(run).under(Masks.lifted()));
            return;
        }
        // Unmasked: the sender of the trigger has the input and needs the output of the run.
        Bare output = Bare.output(run);
        if (!output.isNothing()) {
            out.set("output", output.under(Masks.lifted()));
        }
        JsonNode error = Views.error(run, Masks.lifted());
        if (!error.isNull()) {
            out.set("error", error);
        }
    }

    static dev.semel.server.http.Answer headers(
            dev.semel.server.http.Answer plain, Answer answer, @Nullable IdempotencyKey key) {
        var out = plain.with("Location", "/v1/runs/" + Paths.segment(answer.runId()));
        if (key != null) {
            out = out.with("Idempotency-Key", echo(key.text()));
        }
        if (answer.expiresAt() > 0 && answer.expiresAt() != Wish.FOREVER) {
            out = out.with("Idempotency-Expires", httpDate(answer.expiresAt()));
        }
        if (answer.replayed()) {
            out = out.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true");
        }
        return answer.mismatch() ? out.with("X-Idempotency-Payload-Mismatch", "true") : out;
    }

    /** Quotes the key only where a parser would read the unquoted text as another key. */
    private static String echo(String key) {
        boolean bare = key.charAt(0) != '"' && key.charAt(0) != ' ' && key.charAt(key.length() - 1) != ' ';
        return bare ? key : "\"" + key.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static String httpDate(long micros) {
        return DateTimeFormatter.RFC_1123_DATE_TIME.format(
                Instant.ofEpochSecond(micros / 1_000_000).atOffset(ZoneOffset.UTC));
    }
}
