package dev.semel.server.connectors.notification;

import dev.semel.server.connectors.template.NotificationMedium;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Decides by address and opt-outs whether to send a message. The engine records the reason either way. */
public final class NotificationOptOutPolicy {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH);

    private NotificationOptOutPolicy() {}

    public record TargetChannel(String channel, NotificationMedium medium) {}

    /**
     * @param essential whether it concerns something the recipient did, such as a receipt, a password reset or a legal
     *     notice; a general opt-out does not apply to it
     */
    public record Notification(String name, boolean essential) {}

    /** Its reason is for users and contains no payload value. */
    public sealed interface Decision {}

    public record Allowed(String reason) implements Decision {}

    public record Denied(String reason) implements Decision {}

    /** @param notification null for a message without a notification */
    public static Decision decide(
            NotificationRecipient recipient, TargetChannel way, @Nullable Notification notification) {
        String address = recipient.addresses().get(way.medium());
        if (address == null || address.isBlank()) {
            return new Denied("the recipient has no address for " + way.medium().displayName());
        }
        String passed = null;
        for (NotificationRecipient.OptOut optOut : recipient.optOuts()) {
            String from = matchedTopic(optOut.topic(), way, notification);
            if (from != null) {
                String said = "the recipient unsubscribed from %s on %s".formatted(from, DAY.format(optOut.on()));
                // An opt-out from this exact notification also applies to essential ones.
                if (notification == null
                        || !notification.essential()
                        || optOut.topic().equals(notification.name())) {
                    return new Denied(said);
                }
                passed = passed == null ? said : passed;
            }
        }
        return new Allowed(
                passed == null || notification == null
                        ? "the recipient has not unsubscribed"
                        : "%s, and %s is essential".formatted(passed, notification.name()));
    }

    /** The name of the matching opt-out; null if the opt-out is for another topic. */
    private static @Nullable String matchedTopic(String topic, TargetChannel way, @Nullable Notification notification) {
        if (topic.equals(NotificationRecipient.ALL)) {
            return "everything";
        }
        if (topic.equals(way.medium().word())) {
            return way.medium().displayName();
        }
        boolean named = topic.equals(way.channel()) || (notification != null && topic.equals(notification.name()));
        return named ? topic : null;
    }
}
