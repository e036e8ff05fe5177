package dev.semel.server.channel;

import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RecipientSubscriptions;
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
 * A message recipient: their address for each medium and their opt-outs.
 *
 * @param addresses by medium; a medium without an address is absent
 * @param optOuts topics that the recipient unsubscribed from
 */
public record Recipient(Map<Medium, String> addresses, List<OptOut> optOuts) {
    /** The topic that covers all messages. */
    public static final String ALL = "all";

    /**
     * One unsubscribed topic.
     *
     * @param topic a channel kind, a channel name, an event name, or `all`
     */
    public record OptOut(String topic, LocalDate on) {}

    public Recipient {
        Map<Medium, String> known = new EnumMap<>(Medium.class);
        known.putAll(addresses);
        addresses = Collections.unmodifiableMap(known);
        optOuts = List.copyOf(optOuts);
    }

    /** Builds a recipient from the stored profile; dates are in UTC. */
    public static Recipient of(String id, RecipientProfile profile, List<RecipientSubscriptions.Subscription> choices) {
        Map<Medium, String> addresses = new EnumMap<>(Medium.class);
        put(addresses, Medium.EMAIL, profile.email());
        put(addresses, Medium.SMS, profile.phone());
        put(addresses, Medium.WHATSAPP, profile.phone());
        put(addresses, Medium.CHAT, profile.chat());
        addresses.put(Medium.WEBHOOK, id); // webhook receivers identify the recipient by the profile id
        return new Recipient(addresses, List.of()).withOptOuts(choices);
    }

    /** A copy with these subscriptions. */
    Recipient withOptOuts(List<RecipientSubscriptions.Subscription> choices) {
        List<OptOut> without = choices.stream()
                .filter(choice -> !choice.subscribed())
                .map(choice -> new OptOut(
                        choice.topic(),
                        LocalDate.ofInstant(Instant.EPOCH.plus(choice.since(), ChronoUnit.MICROS), ZoneOffset.UTC)))
                .toList();
        return new Recipient(addresses, without);
    }

    /** A recipient without a profile; the form of the address decides its medium. */
    public static Recipient ofAddress(String address) {
        Map<Medium, String> addresses = new EnumMap<>(Medium.class);
        addresses.put(Medium.WEBHOOK, address);
        if (address.indexOf('@') > 0) {
            addresses.put(Medium.EMAIL, address);
        } else if (address.startsWith("+")) {
            addresses.put(Medium.SMS, address);
            addresses.put(Medium.WHATSAPP, address);
        } else if (address.startsWith("#") || address.startsWith("@")) {
            addresses.put(Medium.CHAT, address);
        }
        return new Recipient(addresses, List.of());
    }

    /** A copy with this address for the medium. */
    Recipient withAddress(Medium medium, String address) {
        Map<Medium, String> other = new EnumMap<>(Medium.class);
        other.putAll(addresses);
        other.put(medium, address);
        return new Recipient(other, optOuts);
    }

    private static void put(Map<Medium, String> addresses, Medium medium, @Nullable String address) {
        if (address != null) {
            addresses.put(medium, address);
        }
    }
}
