package dev.semel.server.api;

import dev.semel.server.doors.Depth;

/**
 * What nobody may go beyond at this server.
 *
 * @param depth so many runs may have started each other
 * @param schedules so many a workspace may have
 */
public record Bounds(int depth, int schedules) {
    static final Bounds USUAL = new Bounds(Depth.USUAL, 1_000);
}
