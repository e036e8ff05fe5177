package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The settings pages of a workspace: one list per kind of setting. */
public final class SettingPages {
    private static final List<Kind> KINDS = List.of(
            new Kind("channels", "Channels"),
            new Kind("routes", "Routes"),
            new Kind("templates", "Templates"),
            new Kind("secrets", "Secrets"),
            new Kind("alerts", "Alerts"),
            new Kind("profiles", "Profiles"),
            new Kind("tokens", "API tokens"),
            new Kind("people", "Users"),
            new Kind("workspaces", "Workspaces"));

    private SettingPages() {}

    /** A tab for one kind of setting: its URL value and its title. */
    public record Kind(String word, String title) {}

    static void addTo(Router router, Door guard) {
        router.add("GET", "/settings", Scope.OPEN, guard.page(visit -> list(visit, "channels", "")))
                .add("GET", "/settings/{kind}", Scope.OPEN, guard.page(visit -> list(visit, visit.part("kind"), "")));
    }

    /** @param link the link of a new invitation, or a new token; else empty */
    static Answer list(Visit visit, String kind, String link) throws Exception {
        if (KINDS.stream().noneMatch(one -> one.word().equals(kind))) {
            return Look.goTo("/settings");
        }
        Doc page = visit.get(Inside.path("v1", kind), ListPages.behind(visit));
        List<Kind> offered = KINDS.stream()
                .filter(one -> visit.may("GET", Inside.path("v1", one.word())))
                .toList();
        return visit.show(
                "settings",
                "Settings",
                "Workspace",
                Map.of(
                        "links",
                        kind.equals("people") ? visit.get("/v1/invitations").items() : List.<Doc>of(),
                        "kinds",
                        offered,
                        "kind",
                        kind,
                        "grid",
                        grid(kind).of(page),
                        "link",
                        link,
                        "page",
                        page,
                        "example",
                        Documents.KINDS.contains(kind) ? Documents.example(kind) : "",
                        "mayChange",
                        visit.may("PUT", Inside.path("v1", kind, "x"))
                                || kind.equals("tokens") && visit.may("POST", "/v1/tokens")));
    }

    private static Grid grid(String kind) {
        return switch (kind) {
            case "tokens" ->
                Grid.named("API tokens. The server shows a token only once, when you create it")
                        .code("Token", "token_id")
                        .text("Name", "name")
                        .text("Scopes", doc -> doc.words("scopes"))
                        .text(
                                "Quota per minute",
                                doc -> doc.number("quota_per_minute") == 0 ? "none" : doc.count("quota_per_minute"))
                        .time("Created", "created_at")
                        .time("Revoked", "revoked_at")
                        .whenEmpty(
                                "No tokens yet. Create one:",
                                "semel token create --workspace default --scope trigger,read --name shop");
            case "people" ->
                Grid.named("Users of this workspace")
                        .text("Name", "name")
                        .text("Role", "role")
                        .text("Groups", doc -> doc.words("groups"))
                        .text("Log-in method", "logs_in_with")
                        .text("Disabled", doc -> doc.is("disabled") ? "yes" : "")
                        .time("Changed", "changed_at")
                        .whenEmpty("No users yet. Invite one below.", "");
            case "workspaces" ->
                Grid.named("Workspaces of this server. To add one, create its first token")
                        .text("Workspace", "workspace")
                        .text("Current", doc -> doc.is("own") ? "yes" : "")
                        .whenEmpty("No workspaces.", "");
            case "secrets" ->
                Grid.named("Secrets. The server never shows their values")
                        .text("Name", "name")
                        .code("Fingerprint", "fingerprint")
                        .text("Encryption key", "key")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("No secrets yet. Store one:", "semel secret set smtp_password");
            case "profiles" ->
                Grid.named("Profiles of message recipients")
                        .link(
                                "Profile",
                                doc -> doc.text("profile_id"),
                                doc -> documentUrl(kind, doc.text("profile_id")))
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("No profiles yet. Create one:", "semel profile put usr_1 profile.json");
            default ->
                Grid.named(kind.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + kind.substring(1))
                        .link("Name", doc -> doc.text("name"), doc -> documentUrl(kind, doc.text("name")))
                        .text("Summary", SettingPages::summary)
                        .text("Version", "version")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty(
                                "None yet. Create one:",
                                "semel " + kind.substring(0, kind.length() - 1) + " put NAME FILE");
        };
    }

    private static String documentUrl(String kind, String name) {
        return Inside.path("settings", kind, name);
    }

    /** The most important fields of a document. */
    private static String summary(Doc doc) {
        Doc document = doc.at("document");
        if (document.has("signal")) {
            return document.text("signal") + " above " + document.text("above") + " → " + document.text("channel");
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
