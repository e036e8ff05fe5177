package dev.semel.server.dashboard.page;

import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.Principal;
import java.util.List;

/** The dashboard's navigation. Shows only entries whose page exists and whose API call the user may make. */
public final class DashboardNavigation {
    private static final List<Group> ALL = List.of(
            new Group(
                    "Automation",
                    List.of(
                            new Item("Workflows", "/workflows", "/v1/workflows", "w"),
                            new Item("Runs", "/runs", "/v1/runs", "r"),
                            new Item("Requests", "/requests", "/v1/requests", "q"),
                            new Item("Keys", "/keys", "/v1/keys", "k"))),
            new Group(
                    "Triggers",
                    List.of(
                            new Item("Schedules", "/schedules", "/v1/schedules", "s"),
                            new Item("Events", "/events", "/v1/events", "e"),
                            new Item("Webhooks", "/webhooks", "/v1/webhooks", "h"))),
            new Group(
                    "Safety",
                    List.of(
                            new Item("Safe replays", "/replays", "/v1/replays", "p"),
                            new Item("Reviews", "/reviews", "/v1/reviews", "v"),
                            new Item("Monitoring", "/monitoring", "/v1/monitoring", "m"),
                            new Item("Effects", "/effects", "/v1/effects", "f"),
                            new Item("Incidents", "/incidents", "/v1/incidents", "i"))),
            new Group(
                    "Settings",
                    List.of(
                            new Item("Workspace", "/settings", "/v1/channels", "o"),
                            new Item("Workers", "/workers", "/v1/workers", "x"),
                            new Item("Audit", "/audit", "/v1/audit", "a"))));

    private DashboardNavigation() {}

    public record Group(String title, List<Item> items) {}

    /** @param shortcut keyboard shortcut after `g` */
    public record Item(String title, String href, String apiPath, String shortcut) {}

    static List<Group> of(InProcessApiClient inside, Principal who) {
        return ALL.stream()
                .map(group -> new Group(
                        group.title(),
                        group.items().stream()
                                .filter(item -> inside.isAllowed(who, "GET", item.href())
                                        && inside.isAllowed(who, "GET", item.apiPath()))
                                .toList()))
                .filter(group -> !group.items().isEmpty())
                .toList();
    }
}
