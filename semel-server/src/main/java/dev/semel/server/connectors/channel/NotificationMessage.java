package dev.semel.server.connectors.channel;

import dev.semel.server.connectors.template.RenderedMessage;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A rendered message to one recipient, ready for a channel to send.
 *
 * @param to an address for this channel: an email address, a phone number or a chat channel
 * @param overrides channel settings that the step replaces, such as `from`
 * @param headers metadata headers, such as `X-Semel-Run`
 * @param depth length of the chain of runs that started each other; 0 if no run sent the message
 */
public record NotificationMessage(
        String to, RenderedMessage rendered, Map<String, String> overrides, Map<String, String> headers, int depth) {
    public NotificationMessage {
        overrides = Collections.unmodifiableMap(new LinkedHashMap<>(overrides));
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** A message that no run sent. */
    public NotificationMessage(
            String to, RenderedMessage rendered, Map<String, String> overrides, Map<String, String> headers) {
        this(to, rendered, overrides, headers, 0);
    }

    public static NotificationMessage of(String to, RenderedMessage rendered) {
        return new NotificationMessage(to, rendered, Map.of(), Map.of());
    }
}
