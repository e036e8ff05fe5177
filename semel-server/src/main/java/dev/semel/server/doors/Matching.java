package dev.semel.server.doors;

import dev.semel.workflow.Doors;
import dev.semel.workflow.Published;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Whether a version of a workflow takes an event, and with what input. Pure. */
sealed interface Matching {
    record Takes(JsonNode input) implements Matching {}

    /** @param because null where it simply does not want it */
    record Leaves(@Nullable String because) implements Matching {}

    /** The first subscription that takes it decides; one that cannot be evaluated leaves it to the next. */
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
