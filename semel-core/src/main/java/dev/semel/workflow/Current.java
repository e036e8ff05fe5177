package dev.semel.workflow;

/** A workflow as it is now: the version that new triggers get, and whether they wait. */
public record Current(Published published, boolean paused) {}
