package dev.semel.server.settings;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Stored notification route: the ordered channels for one notification.
 *
 * @param essential whether it concerns something the recipient did, such as a receipt or a password reset; general
 *     opt-outs do not apply to it
 */
public record NotificationRouteSetting(String notification, boolean essential, List<RouteEntry> entries) {
    private static final int MOST_LEGS = 20;

    /** When an entry sends: always, or only as a fallback for those before it. */
    public enum When {
        ALWAYS,
        FALLBACK
    }

    /** @param channel name of a channel */
    public record RouteEntry(String channel, String template, When when) {}

    static NotificationRouteSetting read(JsonNode node) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        String notification = document.name("notification");
        boolean essential = document.flag("essential");
        List<RouteEntry> legs = new ArrayList<>();
        Set<String> channels = new HashSet<>();
        for (WorkspaceSettingJsonParser leg : document.objects("channels", MOST_LEGS)) {
            String when = leg.choice("when", List.of("always", "fallback"));
            var read = new RouteEntry(
                    leg.name("channel"), leg.name("template"), when.equals("fallback") ? When.FALLBACK : When.ALWAYS);
            if (legs.isEmpty() && read.when() == When.FALLBACK) {
                leg.addProblem("when", "must not be `fallback` in the first channel: no channel precedes it");
            }
            if (!channels.add(read.channel())) {
                leg.addProblem("channel", "appears twice in this route: the message would be sent twice");
            }
            leg.rejectUnknownMembers();
            legs.add(read);
        }
        return document.finish("route", new NotificationRouteSetting(notification, essential, List.copyOf(legs)));
    }
}
