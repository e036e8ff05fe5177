package dev.semel.trials.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The three answers to a trigger, with every header and member that the contract names. */
public final class TriggerResponseChecks {
    private TriggerResponseChecks() {}

    public static HttpReply started(HttpReply reply) {
        reply.expect(200);
        assertEquals("started", reply.text("status"));
        return fresh(reply);
    }

    /** A new run, started or queued. */
    public static HttpReply fresh(HttpReply reply) {
        reply.expect(200);
        assertEquals("false", reply.json().get("idempotent_replayed").toString());
        assertEquals("/v1/runs/" + reply.runId(), reply.header("Location"));
        assertEquals("application/json", reply.header("Content-Type"));
        assertNull(reply.header("X-Idempotent-Replayed"));
        assertNull(reply.header("Idempotent-Replayed"));
        return reply;
    }

    /** States that {@code again} is the replay of {@code first}. */
    public static HttpReply replay(HttpReply first, HttpReply again) {
        again.expect(200);
        assertEquals(first.runId(), again.runId());
        assertEquals(first.text("workflow_id"), again.text("workflow_id"));
        assertEquals("true", again.json().get("idempotent_replayed").toString());
        assertEquals("true", again.header("X-Idempotent-Replayed"));
        assertEquals("true", again.header("Idempotent-Replayed"));
        assertEquals(first.header("Location"), again.header("Location"));
        assertEquals(first.header("Idempotency-Key"), again.header("Idempotency-Key"));
        return again;
    }

    /** States that {@code reply} refuses the key of {@code first}. */
    public static HttpReply conflict(String reason, HttpReply first, HttpReply reply) {
        ProblemResponseChecks.expect(reply, 422, "idempotency-key-conflict");
        assertEquals(reason, reply.text("reason"));
        assertEquals(first.runId(), reply.runId());
        assertTrue(reply.has("spec"), reply.body());
        assertFalse(reply.flag("retryable"));
        assertNull(reply.header("Retry-After"));
        assertTrue(String.valueOf(reply.header("Link")).contains("rel=\"describedby\""), reply::toString);
        return reply;
    }
}
