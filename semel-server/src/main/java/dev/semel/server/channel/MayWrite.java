package dev.semel.server.channel;

import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Decides whether somebody may be written to. Looked at before every send, and its reason is recorded either way. */
public final class MayWrite {
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("d MMMM uuuu", Locale.ENGLISH);

    private MayWrite() {}

    /** The channel that would be taken. */
    public record Way(String channel, Medium medium) {}

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

    /** @param event null where a message is sent without one */
    public static Answer decide(Recipient recipient, Way way, @Nullable Event event) {
        String address = recipient.addresses().get(way.medium());
        if (address == null || address.isBlank()) {
            return new Refused("has no address for " + way.medium().spoken());
        }
        String passed = null;
        for (Recipient.OptOut optOut : recipient.optOuts()) {
            String from = from(optOut.topic(), way, event);
            if (from != null) {
                String said = "unsubscribed from %s on %s".formatted(from, DAY.format(optOut.on()));
                // Who has named this very event has meant it.
                if (event == null || !event.essential() || optOut.topic().equals(event.name())) {
                    return new Refused(said);
                }
                passed = passed == null ? said : passed;
            }
        }
        return new Allowed(
                passed == null || event == null
                        ? "has not unsubscribed"
                        : "%s, and %s is essential".formatted(passed, event.name()));
    }

    /** What the person does not want, in words; null where it is about something else. */
    private static @Nullable String from(String topic, Way way, @Nullable Event event) {
        if (topic.equals(Recipient.ALL)) {
            return "everything";
        }
        if (topic.equals(way.medium().word())) {
            return way.medium().spoken();
        }
        boolean named = topic.equals(way.channel()) || (event != null && topic.equals(event.name()));
        return named ? topic : null;
    }
}
