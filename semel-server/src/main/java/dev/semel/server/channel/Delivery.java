package dev.semel.server.channel;

import org.jspecify.annotations.Nullable;

/**
 * The other side took the message.
 *
 * @param messageId by which it can be found again; null where the other side gave none
 * @param detail what it said, shortened
 */
public record Delivery(@Nullable String messageId, String detail) {
    private static final int LONGEST = 200;

    public Delivery {
        detail = shown(detail);
        messageId = messageId == null ? null : shown(messageId);
    }

    private static String shown(String text) {
        String plain = text.strip().replaceAll("\\p{Cntrl}", " ");
        return plain.length() <= LONGEST ? plain : plain.substring(0, LONGEST) + "…";
    }
}
