package dev.semel.server.settings;

/**
 * One validation problem of a setting document.
 *
 * @param pointer JSON pointer of the invalid member
 * @param message the violated rule, never the value
 */
public record SettingProblem(String pointer, String message) {}
