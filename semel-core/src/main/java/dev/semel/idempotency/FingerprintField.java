package dev.semel.idempotency;

import java.util.Objects;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/**
 * A declared field of a fingerprint: its display name, and the function that reads its value from `data`. An absent
 * field has JSON's missing node as its value, which differs from null.
 */
public record FingerprintField(String name, UnaryOperator<JsonNode> value) {
    public FingerprintField {
        if (name.isBlank()) {
            throw new IllegalArgumentException("a fingerprint field needs a name");
        }
        Objects.requireNonNull(value);
    }
}
