package dev.semel.server.api;

import dev.semel.server.doors.Depth;

/**
 * Limits of the API: how deep runs may start other runs, and how many schedules a workspace may have.
 *
 * @param depth the longest chain of runs that started each other
 * @param schedules the most schedules per workspace
 */
public record Bounds(int depth, int schedules) {
    static final Bounds USUAL = new Bounds(Depth.USUAL, 1_000);
}
