package dev.semel.server.channel;

import dev.semel.server.settings.Profile;
import dev.semel.server.settings.Subscriptions;
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
 * Somebody who may be written to.
 *
 * @param addresses where they can be reached; a medium without an address is not there
 * @param optOuts what they have asked not to get
 */
public record Recipient(Map<Medium, String> addresses, List<OptOut> optOuts) {
    /** The topic that stands for everything. */
    public static final String ALL = "all";

    /**
     * A wish not to be written to.
     *
     * @param topic a kind of channel, the name of a channel, an event, or `all`
     */
    public record OptOut(String topic, LocalDate on) {}

    public Recipient {
        Map<Medium, String> known = new EnumMap<>(Medium.class);
        known.putAll(addresses);
        addresses = Collections.unmodifiableMap(known);
        optOuts = List.copyOf(optOuts);
    }

    /** As they are kept; days are those of UTC. */
    public static Recipient of(String id, Profile profile, List<Subscriptions.Choice> choices) {
        Map<Medium, String> addresses = new EnumMap<>(Medium.class);
        put(addresses, Medium.EMAIL, profile.email());
        put(addresses, Medium.SMS, profile.phone());
        put(addresses, Medium.WHATSAPP, profile.phone());
        put(addresses, Medium.CHAT, profile.chat());
        addresses.put(Medium.WEBHOOK, id); // a program knows the person by the id
        return new Recipient(addresses, List.of()).wishing(choices);
    }

    /** The same person with what they have said. */
    Recipient wishing(List<Subscriptions.Choice> choices) {
        List<OptOut> without = choices.stream()
                .filter(choice -> !choice.subscribed())
                .map(choice -> new OptOut(
                        choice.topic(),
                        LocalDate.ofInstant(Instant.EPOCH.plus(choice.since(), ChronoUnit.MICROS), ZoneOffset.UTC)))
                .toList();
        return new Recipient(addresses, without);
    }

    /** Somebody of whom only an address is known: it tells what it is an address of. */
    public static Recipient at(String address) {
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

    /** The same person, reached at this address. */
    Recipient reachedAt(Medium medium, String address) {
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
