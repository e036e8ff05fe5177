package dev.semel.server.operations;

import dev.semel.server.connectors.ingress.RunTriggerChainDepthLimit;

/**
 * @param maxRunDepth the longest chain of runs that started each other
 * @param maxSchedules the most schedules per workspace
 */
public record ApiLimits(int maxRunDepth, int maxSchedules) {
    public static final ApiLimits DEFAULTS = new ApiLimits(RunTriggerChainDepthLimit.USUAL, 1_000);
}
