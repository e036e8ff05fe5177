package dev.semel.workflow;

/** What an effect does in the external system. */
public enum EffectOperation {
    CREATE,
    UPDATE,
    NOTIFY
}
