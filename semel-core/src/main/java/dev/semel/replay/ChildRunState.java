package dev.semel.replay;

import dev.semel.run.RunState;

/** Of the child run or its latest replay. {@code beingRemoved}: it ended so long ago that retention is deleting it. */
public record ChildRunState(String runId, RunState state, boolean beingRemoved) {}
