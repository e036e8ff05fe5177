package dev.semel.server.operations;

/**
 * @param target the name or id of the changed object, never a value
 * @param reason the reason that the user gave, or another distinguishing detail; may be empty
 */
public record AuditNote(String action, String target, String reason) {}
