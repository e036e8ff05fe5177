package dev.semel.server.doors;

import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import org.jspecify.annotations.Nullable;

/**
 * The origin of an inbound event: trigger source, actor, quota checks and run depth.
 *
 * @param door EVENT or HOOK; their keys never collide
 * @param actor id of the token or webhook source that sent it
 * @param quota checks for each run that it starts or repeats
 * @param depth length of the chain of runs that started each other
 */
public record Entrance(Door door, String actor, @Nullable String correlationId, Trigger.Checks quota, int depth) {
    public Entrance {
        if (door != Door.EVENT && door != Door.HOOK) {
            throw new IllegalArgumentException("events have the trigger source EVENT or HOOK, not " + door);
        }
    }

    /** An origin without quota at depth 0. */
    public Entrance(Door door, String actor, @Nullable String correlationId) {
        this(door, actor, correlationId, Trigger.Checks.NONE, 0);
    }
}
