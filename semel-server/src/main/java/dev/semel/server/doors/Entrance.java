package dev.semel.server.doors;

import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import org.jspecify.annotations.Nullable;

/**
 * How an event came in.
 *
 * @param door EVENT or HOOK: their names never meet
 * @param actor id of the token or of the source that brought it
 * @param quota what is held against each run that it starts or repeats
 * @param depth so many runs stand between it and whoever began
 */
public record Entrance(Door door, String actor, @Nullable String correlationId, Trigger.Checks quota, int depth) {
    public Entrance {
        if (door != Door.EVENT && door != Door.HOOK) {
            throw new IllegalArgumentException("events come by the doors EVENT and HOOK, not " + door);
        }
    }

    /** One without a quota, from whoever began. */
    public Entrance(Door door, String actor, @Nullable String correlationId) {
        this(door, actor, correlationId, Trigger.Checks.NONE, 0);
    }
}
