package dev.semel.server.connectors.ingress;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The names of events that `notify` steps publish. */
public final class RunNotificationEvents {
    public static final String SOURCE = "semel:notifications";

    /** A step can be executed again as long as its run is stored, so its event is recognised for as long as a key can. */
    static final Duration WINDOW = Duration.ofDays(365);

    private static final String ACTOR = "run ";

    private RunNotificationEvents() {}

    /** The actor of the runs that such an event starts. */
    public static String actorOf(String runId) {
        return ACTOR + runId;
    }

    /** The run whose step published the event; null if another sender did. */
    public static @Nullable String runIdOf(String actor) {
        return actor.startsWith(ACTOR) ? actor.substring(ACTOR.length()) : null;
    }
}
