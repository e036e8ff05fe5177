package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What a workspace keeps beside its workflows, kind by kind. */
public final class SettingPages {
    private static final List<Kind> KINDS = List.of(
            new Kind("channels", "Channels"),
            new Kind("routes", "Routes"),
            new Kind("templates", "Templates"),
            new Kind("secrets", "Secrets"),
            new Kind("alerts", "Alerts"),
            new Kind("profiles", "Profiles"),
            new Kind("tokens", "API tokens"),
            new Kind("people", "People"),
            new Kind("workspaces", "Workspaces"));

    private SettingPages() {}

    /** A kind, as it is called in addresses and to people. */
    public record Kind(String word, String title) {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/settings", Scope.OPEN, door.page(visit -> list(visit, "channels", "")))
                .add("GET", "/settings/{kind}", Scope.OPEN, door.page(visit -> list(visit, visit.part("kind"), "")));
    }

    /** @param link for somebody who was just invited; empty otherwise */
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
                Grid.named("API tokens; their secrets are shown once, when they are made")
                        .code("Token", "token_id")
                        .text("Name", "name")
                        .text("Scopes", doc -> doc.words("scopes"))
                        .text(
                                "Quota a minute",
                                doc -> doc.number("quota_per_minute") == 0 ? "none" : doc.count("quota_per_minute"))
                        .time("Made", "created_at")
                        .time("Revoked", "revoked_at")
                        .whenEmpty(
                                "There is no token. Make one:",
                                "semel token create --workspace default --scope trigger,read --name shop");
            case "people" ->
                Grid.named("People who log in")
                        .text("Name", "name")
                        .text("Role", "role")
                        .text("Groups", doc -> doc.words("groups"))
                        .text("Logs in with", "logs_in_with")
                        .text("Disabled", doc -> doc.is("disabled") ? "yes" : "")
                        .time("Changed", "changed_at")
                        .whenEmpty("Nobody has set up a log-in. Invite somebody below.", "");
            case "workspaces" ->
                Grid.named("Workspaces of this server; a new one is made with its first token")
                        .text("Workspace", "workspace")
                        .text("Yours", doc -> doc.is("own") ? "yes" : "")
                        .whenEmpty("There is none.", "");
            case "secrets" ->
                Grid.named("Secrets; their values are never shown")
                        .text("Name", "name")
                        .code("Fingerprint", "fingerprint")
                        .text("Under key", "key")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("There is no secret. Store one:", "semel secret set smtp_password");
            case "profiles" ->
                Grid.named("Profiles of the people that workflows write to")
                        .link("Profile", doc -> doc.text("profile_id"), doc -> place(kind, doc.text("profile_id")))
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty("There is no profile. Make one:", "semel profile put usr_1 profile.json");
            default ->
                Grid.named(kind.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + kind.substring(1))
                        .link("Name", doc -> doc.text("name"), doc -> place(kind, doc.text("name")))
                        .text("What", SettingPages::what)
                        .text("Version", "version")
                        .time("Changed", "changed_at")
                        .text("By", "changed_by")
                        .whenEmpty(
                                "There is none. Make one:",
                                "semel " + kind.substring(0, kind.length() - 1) + " put NAME FILE");
        };
    }

    private static String place(String kind, String name) {
        return Inside.path("settings", kind, name);
    }

    /** The one thing that tells such a document from others of its kind. */
    private static String what(Doc doc) {
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
