package dev.semel.server.channel;

import java.util.List;

/**
 * Which channels a notification event takes.
 *
 * @param hops in the order they are written; a fallback belongs to the hop before it that is none
 */
public record Route(String event, boolean essential, List<Hop> hops) {
    /** Enough for every medium with a fallback each; a route is read by people. */
    public static final int MOST_HOPS = 20;

    /** @param fallback whether it is taken only where what stands before it could not be */
    public record Hop(String channel, String template, boolean fallback) {}

    public Route {
        hops = List.copyOf(hops);
        if (hops.isEmpty() || hops.size() > MOST_HOPS) {
            throw new IllegalArgumentException("a route has 1 to " + MOST_HOPS + " channels");
        }
        if (hops.getFirst().fallback()) {
            throw new IllegalArgumentException("the first channel of a route is no fallback");
        }
    }
}
