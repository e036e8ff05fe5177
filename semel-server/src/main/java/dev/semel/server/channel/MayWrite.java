package dev.semel.server.channel;

import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Decides whether a person may be written to. Looked at before every send, and its reason is recorded either way. */
public final class MayWrite {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH);

    private MayWrite() {}

    /**
     * What is written about.
     *
     * @param essential whether it belongs to something the person has done, such as a receipt, a lost password or a legal
     *     notice: a wish not to get news is not a wish not to get these
     */
    public record Event(String name, boolean essential) {}

    public sealed interface Answer {
        /** In words for people; no value of a payload. */
        String reason();
    }

    public record Allowed(String reason) implements Answer {}

    public record Refused(String reason) implements Answer {}

    public static Answer decide(Profile profile, Medium medium, Event event) {
        String address = profile.addresses().get(medium);
        if (address == null || address.isBlank()) {
            return new Refused("has no address for " + medium.spoken());
        }
        String passed = null;
        for (Profile.OptOut optOut : profile.optOuts()) {
            if (optOut.covers(medium, event.name())) {
                // Who has named this very event has meant it.
                if (!event.essential() || optOut.event() != null) {
                    return new Refused(said(optOut));
                }
                passed = passed == null ? said(optOut) : passed;
            }
        }
        return new Allowed(
                passed == null ? "has not unsubscribed" : "%s, and %s is essential".formatted(passed, event.name()));
    }

    private static String said(Profile.OptOut optOut) {
        String from = optOut.event() == null ? "" : optOut.event();
        Medium medium = optOut.medium();
        if (medium != null) {
            from = from.isEmpty() ? medium.spoken() : from + " by " + medium.spoken();
        }
        return "unsubscribed from %s on %s".formatted(from.isEmpty() ? "everything" : from, DAY.format(optOut.on()));
    }
}
