package dev.semel.replay;

import dev.semel.run.RunState;

/**
 * A run that was called, as a replay of its caller finds it: itself, or what replayed it since.
 *
 * @param runId as callers see it
 * @param going it ended so long ago that its record is being removed
 */
public record Called(String runId, RunState state, boolean going) {}
