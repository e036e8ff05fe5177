package dev.semel.definition;

import dev.semel.json.StrictJson;
import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import dev.semel.workflow.DuplicatePayload;
import dev.semel.admission.KeyScope;
import dev.semel.admission.OnFailed;
import dev.semel.workflow.OnMismatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;

/**
 * Reads the key policy of an earlier version of a Java workflow from its stored declaration.
 * The version that admitted a key decides on its repeats. Fingerprint fields use the accessors of the current code; a
 * field that the code no longer declares is read as the JSON member of that name.
 */
final class StoredKeyPolicy {
    private StoredKeyPolicy() {}

    static KeyPolicy of(String descriptor, KeyPolicy today) {
        JsonNode words = StrictJson.parse(descriptor).path("idempotency");
        List<FingerprintField> fields = new ArrayList<>();
        for (JsonNode name : words.path("fingerprint")) {
            fields.add(field(name.asString(), today));
        }
        List<String> ignored = new ArrayList<>();
        words.path("fingerprint_ignore").forEach(path -> ignored.add(path.asString()));
        return new KeyPolicy(
                Duration.parse(words.required("window").asString()),
                constant(KeyScope.class, words, "scope"),
                fields,
                ignored,
                constant(OnMismatch.class, words, "on_mismatch"),
                constant(DuplicatePayload.class, words, "duplicate_payload"),
                constant(OnFailed.class, words, "on_failed"),
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
