package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The settings pages of a workspace: one list per kind of setting. */
public final class SettingPages {
    private static final List<SettingTab> KINDS = List.of(
            new SettingTab("channels", "Channels"),
            new SettingTab("routes", "Routes"),
            new SettingTab("templates", "Templates"),
            new SettingTab("secrets", "Secrets"),
            new SettingTab("alerts", "Alerts"),
            new SettingTab("profiles", "Profiles"),
            new SettingTab("tokens", "API tokens"),
            new SettingTab("users", "Users"),
            new SettingTab("workspaces", "Workspaces"));

    private SettingPages() {}

    /** A tab for one kind of setting: its URL value and its title. */
    public record SettingTab(String value, String title) {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/settings", TokenScope.OPEN, guard.page(visit -> list(visit, "channels", "")))
                .add(
                        "GET",
                        "/settings/{kind}",
                        TokenScope.OPEN,
                        guard.page(visit -> list(visit, visit.pathParameter("kind"), "")));
    }

    /** @param link the link of a new invitation, or a new token; else empty */
    static HttpResponse list(PageVisit visit, String kind, String link) throws Exception {
        if (KINDS.stream().noneMatch(one -> one.value().equals(kind))) {
            return PageRenderer.redirect("/settings");
        }
        ApiJson page = visit.get(InternalApiClient.path("v1", kind), ListPages.cursorQuery(visit));
        List<SettingTab> offered = KINDS.stream()
                .filter(one -> visit.isAllowed("GET", InternalApiClient.path("v1", one.value())))
                .toList();
        return visit.show(
                "settings",
                "Settings",
                "Workspace",
                Map.of(
                        "links",
                        kind.equals("users") ? visit.get("/v1/invitations").items() : List.<ApiJson>of(),
                        "kinds",
                        offered,
                        "kind",
                        kind,
                        "grid",
                        grid(kind).withRows(page),
                        "link",
                        link,
                        "page",
                        page,
                        "example",
                        SettingDocumentPages.KINDS.contains(kind) ? SettingDocumentPages.example(kind) : "",
                        "mayChange",
                        visit.isAllowed("PUT", InternalApiClient.path("v1", kind, "x"))
                                || kind.equals("tokens") && visit.isAllowed("POST", "/v1/tokens")));
    }

    private static TableView grid(String kind) {
        return switch (kind) {
            case "tokens" ->
                TableView.titled("API tokens. The server shows a token only once, when you create it")
                        .code("Token", "token_id")
                        .text("Name", "name")
                        .text("Scopes", doc -> doc.joinedText("scopes"))
                        .text(
                                "Quota per minute",
                                doc -> doc.number("quota_per_minute") == 0 ? "none" : doc.count("quota_per_minute"))
                        .time("Created", "created_at")
                        .time("Revoked", "revoked_at")
                        .whenEmpty(
                                "No tokens yet. Create one:",
                                "semel token create --workspace default --scope trigger,read --name shop");
            case "users" ->
                TableView.titled("Users of this workspace")
                        .text("Name", "name")
                        .text("Role", "role")
                        .text("Groups", doc -> doc.joinedText("groups"))
                        .text("Log-in method", "login_method")
                        .text("Disabled", doc -> doc.is("disabled") ? "yes" : "")
                        .time("Changed", "changed_at")
                        .whenEmpty("No users yet. Invite one below.", "");
            case "workspaces" ->
                TableView.titled("Workspaces of this server. To add one, create its first token")
                        .text("Workspace", "workspace")
                        .text("Current", doc -> doc.is("current") ? "yes" : "")
                        .whenEmpty("No workspaces.", "");
            case "secrets" ->
                TableView.titled("Secrets. The server never shows their values")
                        .text("Name", "name")
                        .code("Fingerprint", "fingerprint")
                        .text("Encryption key", "key")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("No secrets yet. Store one:", "semel secret set smtp_password");
            case "profiles" ->
                TableView.titled("Profiles of message recipients")
                        .link(
                                "Profile",
                                doc -> doc.text("profile_id"),
                                doc -> documentUrl(kind, doc.text("profile_id")))
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("No profiles yet. Create one:", "semel profile save usr_1 profile.json");
            default ->
                TableView.titled(kind.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + kind.substring(1))
                        .link("Name", doc -> doc.text("name"), doc -> documentUrl(kind, doc.text("name")))
                        .text("Summary", SettingPages::summary)
                        .text("Version", "version")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty(
                                "None yet. Create one:",
                                "semel " + kind.substring(0, kind.length() - 1) + " save NAME FILE");
        };
    }

    private static String documentUrl(String kind, String name) {
        return InternalApiClient.path("settings", kind, name);
    }

    /** The most important fields of a document. */
    private static String summary(ApiJson doc) {
        ApiJson document = doc.at("document");
        if (document.has("metric")) {
            return document.text("metric") + " above " + document.text("above") + " → " + document.text("channel");
        }
        return document.has("kind")
                ? document.text("kind")
                : document.has("event")
                        ? document.list("channels").stream()
                                .map(leg -> leg.text("channel"))
                                .collect(Collectors.joining(", "))
                        : document.text("channel");
    }
}
