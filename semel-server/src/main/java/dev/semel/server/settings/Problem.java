package dev.semel.server.settings;

/**
 * What is wrong with a document.
 *
 * @param pointer where, as a JSON pointer
 * @param message the rule, never the value
 */
public record Problem(String pointer, String message) {}
