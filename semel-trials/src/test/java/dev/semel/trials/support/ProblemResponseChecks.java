package dev.semel.trials.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.databind.JsonNode;

/** The form of every error: RFC 9457 with our own members, and nothing of what is behind the source. */
public final class ProblemResponseChecks {
    private static final Set<String> MEMBERS =
            new TreeSet<>(Set.of("type", "title", "status", "detail", "instance", "code", "retryable", "fix"));

    /** What a stack trace, an exception's text or a banner would contain. */
    private static final List<String> INSIDE = List.of(
            "exception",
            "\tat ",
            "java.",
            "dev.semel.server",
            "dev.semel.engine",
            "helidon",
            "jackson",
            "snakeyaml",
            "networknt",
            "sqlite",
            "postgres",
            "jdbc",
            "semel_key",
            "semel_run",
            "insert into",
            "select ");

    private ProblemResponseChecks() {}

    public static HttpReply expect(HttpReply reply, int status, String code) {
        reply.expect(status);
        JsonNode document = check(reply);
        assertEquals(code, document.get("code").asString(), reply.body());
        return reply;
    }

    /** Every error of the API looks like this. */
    public static JsonNode check(HttpReply reply) {
        assertEquals("application/problem+json", reply.header("Content-Type"), reply.body());
        assertEquals("no-store", reply.header("Cache-Control"));
        assertEquals("nosniff", reply.header("X-Content-Type-Options"));
        JsonNode document = reply.json();
        check(document, reply.status());
        nothingFromInside(reply);
        return document;
    }

    /** Also for an item of a batch. */
    public static void check(JsonNode document, int status) {
        Set<String> missing = new TreeSet<>(MEMBERS);
        missing.removeAll(document.propertyNames());
        assertEquals(Set.of(), missing, document::toString);
        assertEquals(status, document.get("status").asInt(), document::toString);
        String code = document.get("code").asString();
        assertTrue(document.get("type").asString().endsWith("/" + code), document::toString);
        assertTrue(
                document.get("instance").asString().matches("urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
                document::toString);
        assertTrue(document.get("retryable").isBoolean(), document::toString);
        if (code.startsWith("idempotency-key-") || code.equals("duplicate-payload")) {
            assertTrue(document.has("idempotency_key") && document.has("spec"), document::toString);
        }
        for (String text : List.of("title", "detail", "fix")) {
            assertFalse(document.get(text).asString().isBlank(), document::toString);
        }
    }

    public static void nothingFromInside(HttpReply reply) {
        String all = (String.join("\n", reply.lines()) + "\n" + reply.body()).toLowerCase(Locale.ROOT);
        for (String word : INSIDE) {
            assertFalse(all.contains(word), () -> "the answer tells of the inside (" + word.strip() + "): " + all);
        }
    }
}
