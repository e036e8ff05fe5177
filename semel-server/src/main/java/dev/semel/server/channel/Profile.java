package dev.semel.server.channel;

import java.time.LocalDate;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A recipient, as far as writing to them goes.
 *
 * @param addresses where they can be reached; a medium without an address is not there
 * @param optOuts what they do not want; several may fit, and the first that does is named
 */
public record Profile(String id, Map<Medium, String> addresses, List<OptOut> optOuts) {
    /**
     * A wish not to be written to.
     *
     * @param medium null for all of them
     * @param event null for all of them
     */
    public record OptOut(@Nullable Medium medium, @Nullable String event, LocalDate on) {
        boolean covers(Medium other, String name) {
            return (medium == null || medium == other) && (event == null || event.equals(name));
        }
    }

    public Profile {
        Map<Medium, String> known = new EnumMap<>(Medium.class);
        known.putAll(addresses);
        addresses = Collections.unmodifiableMap(known);
        optOuts = List.copyOf(optOuts);
    }
}
