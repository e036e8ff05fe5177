package dev.semel.key;

import java.util.Objects;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/**
 * One declared part of a fingerprint: the name shown when it differs, and how to take its value out of `data`.
 * The value of an absent field is JSON's missing node, which is unlike null.
 */
public record FingerprintField(String name, UnaryOperator<JsonNode> value) {
    public FingerprintField {
        if (name.isBlank()) {
            throw new IllegalArgumentException("a fingerprint field needs a name");
        }
        Objects.requireNonNull(value);
    }
}
