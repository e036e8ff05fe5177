package dev.semel.workflow;

/**
 * A workflow as it is now: the version that new triggers get, and whether they wait.
 *
 * @param change of the catalog under which this was true; an admission under another one looks again
 */
public record Current(Published published, boolean paused, long change) {}
