package dev.semel.server.settings;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * By which channels a notification event goes out, in order.
 *
 * @param essential whether it belongs to something the person has done, such as a receipt or a lost password: whoever
 *     wants no news by a channel still gets it
 */
public record RouteSetting(String event, boolean essential, List<Leg> legs) {
    private static final int MOST_LEGS = 20;

    /** When a leg is taken: each time, or only where those before it could not deliver. */
    public enum When {
        ALWAYS,
        FALLBACK
    }

    /** @param channel the name of a channel setting */
    public record Leg(String channel, String template, When when) {}

    static RouteSetting read(JsonNode node) {
        Document document = Document.of(node);
        String event = document.name("event");
        boolean essential = document.flag("essential");
        List<Leg> legs = new ArrayList<>();
        Set<String> channels = new HashSet<>();
        for (Document leg : document.objects("channels", MOST_LEGS)) {
            String when = leg.choice("when", List.of("always", "fallback"));
            var read = new Leg(
                    leg.name("channel"), leg.name("template"), when.equals("fallback") ? When.FALLBACK : When.ALWAYS);
            if (legs.isEmpty() && read.when() == When.FALLBACK) {
                leg.wrong("when", "must not be fallback in the first channel: there is nothing before it");
            }
            if (!channels.add(read.channel())) {
                leg.wrong("channel", "stands twice in this route: it would be sent twice");
            }
            leg.end();
            legs.add(read);
        }
        document.end();
        document.refuseWhatIsWrong("route");
        return new RouteSetting(event, essential, List.copyOf(legs));
    }
}
