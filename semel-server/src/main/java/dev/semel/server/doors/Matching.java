package dev.semel.server.doors;

import dev.semel.workflow.Doors;
import dev.semel.workflow.Published;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Decides whether a workflow version subscribes to an event, and computes its input. Pure. */
sealed interface Matching {
    record Takes(JsonNode input) implements Matching {}

    /** @param because the reason; null if it does not subscribe to the event */
    record Leaves(@Nullable String because) implements Matching {}

    /** The first matching subscription decides; one that cannot be evaluated is skipped. */
    static Matching of(Published workflow, Event event) {
        String failed = null;
        for (Doors.Subscription one : workflow.extras().doors().events()) {
            if (one.fits(event.type(), event.source())) {
                switch (one.reading().read(event.whole())) {
                    case Doors.Read.Input(JsonNode input) -> {
                        return new Takes(input);
                    }
                    case Doors.Read.Unfit _ -> {}
                    case Doors.Read.Failed(String because) -> failed = because;
                }
            }
        }
        return new Leaves(failed);
    }
}
