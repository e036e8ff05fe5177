package dev.semel.server.api;

import dev.semel.server.ingress.RunDepthLimit;

/**
 * Limits of the API: how deep runs may start other runs, and how many schedules a workspace may have.
 *
 * @param maxRunDepth the longest chain of runs that started each other
 * @param maxSchedules the most schedules per workspace
 */
public record ApiLimits(int maxRunDepth, int maxSchedules) {
    static final ApiLimits DEFAULTS = new ApiLimits(RunDepthLimit.USUAL, 1_000);
}
