package dev.semel.definition;

import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/** Fingerprint fields use the accessors of the current code; a field that it no longer has is read as a JSON member. */
final class StoredIdempotencyKeyPolicyReader {
    private StoredIdempotencyKeyPolicyReader() {}

    static KeyPolicy of(String descriptor, KeyPolicy today) {
        JsonNode words = StrictJsonCodec.parse(descriptor).path("idempotency");
        List<FingerprintField> fields = new ArrayList<>();
        for (JsonNode name : words.path("fingerprint")) {
            fields.add(field(name.asString(), today));
        }
        List<String> ignored = new ArrayList<>();
        words.path("fingerprint_ignore").forEach(path -> ignored.add(path.asString()));
        return new KeyPolicy(
                Duration.parse(words.required("window").asString()),
                constant(IdempotencyKeyScope.class, words, "scope"),
                fields,
                ignored,
                constant(SameKeyDifferentPayloadPolicy.class, words, "on_mismatch"),
                constant(SamePayloadDifferentKeyPolicy.class, words, "duplicate_payload"),
                constant(FailedRunDuplicateRequestPolicy.class, words, "on_failed"),
                words.required("hold_while_running").asBoolean(),
                words.required("require_key").asBoolean());
    }

    private static FingerprintField field(String name, KeyPolicy today) {
        return today.fingerprint().stream()
                .filter(field -> field.name().equals(name))
                .findFirst()
                .orElseGet(() -> new FingerprintField(name, data -> data.path(name)));
    }

    private static <E extends Enum<E>> E constant(Class<E> type, JsonNode words, String member) {
        return Enum.valueOf(type, words.required(member).asString().toUpperCase(Locale.ROOT));
    }
}
