package dev.semel.journal;

import tools.jackson.databind.JsonNode;

/** One line of a run's memory. */
public sealed interface Entry {
    /** A repeatable step ended with this result. */
    record StepDone(String path, long at, JsonNode result) implements Entry {}
}
