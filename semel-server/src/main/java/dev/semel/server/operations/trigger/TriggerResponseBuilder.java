package dev.semel.server.operations.trigger;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.TriggerResult;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.server.connectors.outbound.FormUrlEncoder;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.RunWaitReasonJsonRenderer;
import dev.semel.server.query.UnmaskedPiiValue;
import dev.semel.store.DatabaseRows;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

final class TriggerResponseBuilder {
    private TriggerResponseBuilder() {}

    static ObjectNode body(TriggerResult answer, List<String> warnings) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("run_id", answer.runId());
        out.put("status", answer.state().wireName());
        out.put("workflow_id", answer.workflowId());
        out.put("idempotent_replayed", answer.replayed());
        if (answer.payloadMismatch()) {
            out.put("payload_mismatch", true);
            answer.changedFields().forEach(out.putArray("changed")::add);
        }
        if (answer.previousRunId() != null) {
            out.put("previous_run_id", answer.previousRunId());
        }
        if (answer.duplicateOf() != null) {
            out.put("duplicate_of", answer.duplicateOf());
        }
        if (!warnings.isEmpty()) {
            warnings.forEach(out.putArray("warnings")::add);
        }
        return out;
    }

    /** Adds the status of the run and, once it has ended, its output or error. */
    static void addRunState(ObjectNode out, DatabaseRows.RunRow run) {
        out.put("status", run.state().wireName());
        DatabaseRows.RunEnd end = run.end();
        if (end == null) {
            ArrayNode waits = out.putArray("waiting_for");
            RunWaitReasonJsonRenderer.describe(run, RunPiiMaskFactory.noMask())
                    .forEach(wait -> waits.add(ViewJson.of(wait)));
            return;
        }
        // Unmasked: the sender of the trigger has the input and needs the output of the run.
        UnmaskedPiiValue output = UnmaskedPiiValue.output(run);
        if (!output.isNull()) {
            out.set("output", output.maskWith(RunPiiMaskFactory.noMask()));
        }
        ObjectNode error = RunJsonRenderer.errorJson(run, RunPiiMaskFactory.noMask());
        if (error != null) {
            out.set("error", error);
        }
    }

    static ServerHttpResponse addHeaders(ServerHttpResponse plain, TriggerResult answer, @Nullable IdempotencyKey key) {
        var out = plain.with("Location", "/v1/runs/" + FormUrlEncoder.percentEncode(answer.runId()));
        if (key != null) {
            out = out.with("Idempotency-Key", echo(key.text()));
        }
        if (answer.expiresAt() > 0 && answer.expiresAt() != RunDeduplicationKeyClaim.FOREVER) {
            out = out.with("Idempotency-Expires", httpDate(answer.expiresAt()));
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
