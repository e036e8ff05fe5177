package dev.semel.workflow;

import dev.semel.key.KeyPolicy;

/** One published version of a workflow, ready to admit triggers and to run. Immutable: a change is a new version. */
public record Published(String workflowId, String name, int version, KeyPolicy policy, Body body) {}
