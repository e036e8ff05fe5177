package dev.semel.server.channel;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A message to one recipient.
 *
 * @param to an address of the channel's own kind: a mailbox, a telephone number, a room
 * @param overrides what this step wants other than the channel has it, such as `from`
 * @param headers what goes along for machines, such as `X-Semel-Run`
 * @param depth how many runs have started each other up to whoever gets it; 0 where it is not of a run
 */
public record Message(
        String to, Rendered rendered, Map<String, String> overrides, Map<String, String> headers, int depth) {
    public Message {
        overrides = Collections.unmodifiableMap(new LinkedHashMap<>(overrides));
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** One that is not of a run. */
    public Message(String to, Rendered rendered, Map<String, String> overrides, Map<String, String> headers) {
        this(to, rendered, overrides, headers, 0);
    }

    public static Message of(String to, Rendered rendered) {
        return new Message(to, rendered, Map.of(), Map.of());
    }
}
