package dev.semel.server.api;

import dev.semel.admission.IdempotencyKey;
import dev.semel.store.KeyClaim;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerResult;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the JSON body and the headers of the HTTP response to a trigger. */
final class TriggerResponses {
    private TriggerResponses() {}

    static ObjectNode body(TriggerResult answer, List<String> warnings) {
        ObjectNode out = JsonViews.newObject();
        out.put("run_id", answer.runId());
        out.put("status", answer.state().wireName());
        out.put("workflow_id", answer.workflowId());
        out.put("idempotent_replayed", answer.replayed());
        if (answer.payloadMismatch()) {
            out.put("payload_mismatch", true);
            var changed = out.putArray("changed");
            answer.changedFields().forEach(changed::add);
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
    static void addRunState(ObjectNode out, StoredRows.RunRow run) {
        out.put("status", run.state().wireName());
        StoredRows.RunEnd end = run.end();
        if (end == null) {
            out.set("waiting_for", WaitingForView.describe(run).maskWith(PiiMasks.noMask()));
            return;
        }
        // Unmasked: the sender of the trigger has the input and needs the output of the run.
        UnmaskedValue output = UnmaskedValue.output(run);
        if (!output.isNull()) {
            out.set("output", output.maskWith(PiiMasks.noMask()));
        }
        JsonNode error = JsonViews.errorJson(run, PiiMasks.noMask());
        if (!error.isNull()) {
            out.set("error", error);
        }
    }

    static dev.semel.server.http.HttpResponse addHeaders(
            dev.semel.server.http.HttpResponse plain, TriggerResult answer, @Nullable IdempotencyKey key) {
        var out = plain.with("Location", "/v1/runs/" + PathSegmentEncoder.encode(answer.runId()));
        if (key != null) {
            out = out.with("Idempotency-Key", echo(key.text()));
        }
        if (answer.expiresAt() > 0 && answer.expiresAt() != KeyClaim.FOREVER) {
            out = out.with("Idempotency-Expires", httpDate(answer.expiresAt()));
        }
        if (answer.replayed()) {
            out = out.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true");
        }
        return answer.payloadMismatch() ? out.with("X-Idempotency-Payload-Mismatch", "true") : out;
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
