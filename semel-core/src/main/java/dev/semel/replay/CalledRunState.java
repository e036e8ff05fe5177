package dev.semel.replay;

import dev.semel.workflow.RunState;

/**
 * State of a child run, or of its latest replay, as a replay of the parent finds it.
 *
 * @param runId as callers see it
 * @param beingRemoved it ended so long ago that retention is deleting it
 */
public record CalledRunState(String runId, RunState state, boolean beingRemoved) {}
