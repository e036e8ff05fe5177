package dev.semel.server.connectors.notification;

import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * @param addresses by medium; a medium without an address is absent
 * @param optOuts topics that the recipient unsubscribed from
 */
public record NotificationRecipient(Map<NotificationMedium, String> addresses, List<OptOut> optOuts) {
    /** The topic that covers all messages. */
    public static final String ALL = "all";

    /** @param topic a channel kind, a channel name, a notification name, or `all` */
    public record OptOut(String topic, LocalDate on) {}

    public NotificationRecipient {
        Map<NotificationMedium, String> known = new EnumMap<>(NotificationMedium.class);
        known.putAll(addresses);
        addresses = Collections.unmodifiableMap(known);
        optOuts = List.copyOf(optOuts);
    }

    /** Builds a recipient from the stored profile; dates are in UTC. */
    public static NotificationRecipient of(
            String id, RecipientProfile profile, List<RecipientTopicSubscriptionStore.Subscription> choices) {
        Map<NotificationMedium, String> addresses = new EnumMap<>(NotificationMedium.class);
        put(addresses, NotificationMedium.EMAIL, profile.email());
        put(addresses, NotificationMedium.SMS, profile.phone());
        put(addresses, NotificationMedium.WHATSAPP, profile.phone());
        put(addresses, NotificationMedium.CHAT, profile.chat());
        addresses.put(NotificationMedium.WEBHOOK, id); // webhook receivers identify the recipient by the profile id
        return new NotificationRecipient(addresses, List.of()).withOptOuts(choices);
    }

    NotificationRecipient withOptOuts(List<RecipientTopicSubscriptionStore.Subscription> choices) {
        List<OptOut> without = choices.stream()
                .filter(choice -> !choice.subscribed())
                .map(choice -> new OptOut(
                        choice.topic(),
                        LocalDate.ofInstant(Instant.EPOCH.plus(choice.since(), ChronoUnit.MICROS), ZoneOffset.UTC)))
                .toList();
        return new NotificationRecipient(addresses, without);
    }

    /** A recipient without a profile; the form of the address decides its medium. */
    public static NotificationRecipient ofAddress(String address) {
        Map<NotificationMedium, String> addresses = new EnumMap<>(NotificationMedium.class);
        addresses.put(NotificationMedium.WEBHOOK, address);
        if (address.indexOf('@') > 0) {
            addresses.put(NotificationMedium.EMAIL, address);
        } else if (address.startsWith("+")) {
            addresses.put(NotificationMedium.SMS, address);
            addresses.put(NotificationMedium.WHATSAPP, address);
        } else if (address.startsWith("#") || address.startsWith("@")) {
            addresses.put(NotificationMedium.CHAT, address);
        }
        return new NotificationRecipient(addresses, List.of());
    }

    NotificationRecipient withAddress(NotificationMedium medium, String address) {
        Map<NotificationMedium, String> other = new EnumMap<>(NotificationMedium.class);
        other.putAll(addresses);
        other.put(medium, address);
        return new NotificationRecipient(other, optOuts);
    }

    private static void put(
            Map<NotificationMedium, String> addresses, NotificationMedium medium, @Nullable String address) {
        if (address != null) {
            addresses.put(medium, address);
        }
    }
}
