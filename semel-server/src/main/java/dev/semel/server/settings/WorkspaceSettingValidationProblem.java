package dev.semel.server.settings;

/**
 * @param pointer JSON pointer of the invalid member
 * @param message the violated rule, never the value
 */
public record WorkspaceSettingValidationProblem(String pointer, String message) {}
