package dev.semel.server.dashboard.setting;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.List;
import java.util.stream.Collectors;

public final class WorkspaceSettingListPages {
    private static final List<SettingTab> KINDS = List.of(
            new SettingTab("channels", "Channels"),
            new SettingTab("routes", "Routes"),
            new SettingTab("templates", "Templates"),
            new SettingTab("secrets", "Secrets"),
            new SettingTab("alerts", "Alerts"),
            new SettingTab("profiles", "Profiles"),
            new SettingTab("cohorts", "Cohorts"),
            new SettingTab("tokens", "API tokens"),
            new SettingTab("users", "Users"),
            new SettingTab("workspaces", "Workspaces"));

    private WorkspaceSettingListPages() {}

    public record SettingTab(String value, String title) {}

    public static void addTo(DashboardRouter routes) {
        routes.page("/settings", visit -> list(visit, "channels", ""))
                .page("/settings/{kind}", visit -> list(visit, visit.pathParameter("kind"), ""));
    }

    /** @param link the link of a new invitation, or a new token; else empty */
    static ServerHttpResponse list(DashboardPageRequest visit, String kind, String link) throws Exception {
        if (KINDS.stream().noneMatch(one -> one.value().equals(kind))) {
            return PageRenderer.redirect("/settings");
        }
        DashboardTemplateJsonAccessor page = visit.get(InProcessApiClient.path("v1", kind), visit.cursor());
        List<SettingTab> offered = KINDS.stream()
                .filter(one -> visit.isAllowed("GET", InProcessApiClient.path("v1", one.value())))
                .toList();
        return visit.page("settings", "Settings", "Workspace")
                .with(
                        "links",
                        kind.equals("users")
                                ? visit.get("/v1/invitations").items()
                                : List.<DashboardTemplateJsonAccessor>of())
                .with("kinds", offered)
                .with("kind", kind)
                .with("grid", grid(kind).withRows(page))
                .with("link", link)
                .with("page", page)
                .with(
                        "example",
                        WorkspaceSettingEditPages.KINDS.contains(kind) ? WorkspaceSettingEditPages.example(kind) : "")
                .with(
                        "mayChange",
                        visit.isAllowed("PUT", InProcessApiClient.path("v1", kind, "x"))
                                || kind.equals("tokens") && visit.isAllowed("POST", "/v1/tokens"))
                .show();
    }

    private static DashboardListTableModel grid(String kind) {
        return switch (kind) {
            case "tokens" -> tokens();
            case "users" ->
                DashboardListTableModel.titled("Users of this workspace")
                        .text("Name", "name")
                        .text("Role", "role")
                        .text("Groups", doc -> doc.joinedText("groups"))
                        .text("Log-in method", "login_method")
                        .text("Disabled", doc -> doc.is("disabled") ? "yes" : "")
                        .time("Changed", "changed_at")
                        .whenEmpty("No users yet. Invite one below.", "");
            case "workspaces" ->
                DashboardListTableModel.titled(
                                "Workspaces that you can see. To add one, create its first token with a token that has"
                                        + " the scope server")
                        .text("Workspace", "workspace")
                        .text("Current", doc -> doc.is("current") ? "yes" : "")
                        .whenEmpty("No workspaces.", "");
            case "secrets" ->
                DashboardListTableModel.titled("Secrets. The server never shows their values")
                        .text("Name", "name")
                        .code("Fingerprint", "fingerprint")
                        .text("Encryption key", "key")
                        .text("Hosts", doc -> doc.joinedText("hosts"))
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("No secrets yet. Store one:", "semel secret set smtp_password");
            case "profiles" -> profiles(kind);
            default ->
                DashboardListTableModel.titled(
                                kind.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + kind.substring(1))
                        .link("Name", doc -> doc.text("name"), doc -> documentUrl(kind, doc.text("name")))
                        .text("Summary", WorkspaceSettingListPages::summary)
                        .text("Version", "version")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty(
                                "None yet. Create one:",
                                "semel " + kind.substring(0, kind.length() - 1) + " save NAME FILE");
        };
    }

    private static DashboardListTableModel tokens() {
        return DashboardListTableModel.titled("API tokens. The server shows a token only once, when you create it")
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
    }

    private static DashboardListTableModel profiles(String kind) {
        return DashboardListTableModel.titled("Profiles of message recipients")
                .link("Profile", doc -> doc.text("profile_id"), doc -> documentUrl(kind, doc.text("profile_id")))
                .time("Changed", "changed_at")
                .text("By", "changed_by")
                .whenEmpty("No profiles yet. Create one:", "semel profile save usr_1 profile.json");
    }

    private static String documentUrl(String kind, String name) {
        return InProcessApiClient.path("settings", kind, name);
    }

    /** The most important fields of a document. */
    private static String summary(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor document = doc.at("document");
        if (document.has("metric")) {
            return document.text("metric") + " above " + document.text("above") + " → " + document.text("channel");
        }
        if (document.has("description")) {
            return document.text("description");
        }
        return document.has("kind")
                ? document.text("kind")
                : document.has("notification")
                        ? document.list("channels").stream()
                                .map(leg -> leg.text("channel"))
                                .collect(Collectors.joining(", "))
                        : document.text("channel");
    }
}
