package dev.semel.server.connectors.channel;

import org.jspecify.annotations.Nullable;

/**
 * @param messageId the provider's id of the message; null if it returned none
 * @param detail the provider's response, shortened
 */
public record NotificationDeliveryReceipt(@Nullable String messageId, String detail) {
    private static final int LONGEST = 200;

    public NotificationDeliveryReceipt {
        detail = shorten(detail);
        messageId = messageId == null ? null : shorten(messageId);
    }

    private static String shorten(String text) {
        String plain = text.strip().replaceAll("\\p{Cntrl}", " ");
        return plain.length() <= LONGEST ? plain : plain.substring(0, LONGEST) + "…";
    }
}
