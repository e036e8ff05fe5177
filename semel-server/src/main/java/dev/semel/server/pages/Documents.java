package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Problems;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The page of one settings document (channel, route, template, alert or profile): show, save, remove. */
final class Documents {
    /** The kinds that users edit as JSON documents. Secrets and tokens have their own forms. */
    static final Set<String> KINDS = Set.of("channels", "routes", "templates", "alerts", "profiles");

    private static final String NEW = "";

    private Documents() {}

    static void addTo(Router router, Door guard) {
        String one = "/settings/{kind}/{name}";
        router.add("GET", one, Scope.OPEN, guard.page(Documents::one))
                .add("POST", "/settings/{kind}", Scope.OPEN, guard.deed((visit, form) -> save(visit, form, NEW)))
                .add("POST", one, Scope.OPEN, guard.deed((visit, form) -> save(visit, form, visit.part("name"))))
                .add("POST", one + "/remove", Scope.OPEN, guard.deed(Documents::remove))
                .add("POST", one + "/reveal", Scope.OPEN, guard.deed(Documents::reveal))
                .add("POST", one + "/subscriptions", Scope.OPEN, guard.deed(Documents::subscribe));
    }

    /** An example document of this kind for the form. */
    static String example(String kind) {
        return switch (kind) {
            case "channels" -> """
                {
                  "kind": "webhook",
                  "url": "https://example.com/hooks/semel"
                }\
                """;
            case "routes" -> """
                {
                  "event": "lead.welcome",
                  "channels": [{"channel": "mail", "template": "welcome", "when": "always"}]
                }\
                """;
            case "templates" -> """
                {
                  "channel": "email",
                  "subject": "Welcome",
                  "text": "Hello {{ name }},\\nwelcome."
                }\
                """;
            case "alerts" -> """
                {
                  "signal": "conflict_rate",
                  "above": "0.5%",
                  "over": "10m",
                  "channel": "mail",
                  "to": "ops@example.com"
                }\
                """;
            default -> """
                {
                  "email": "ana@example.com",
                  "attributes": {}
                }\
                """;
        };
    }

    /**
     * The content of the form.
     *
     * @param problem why the API rejected it, or the response with its warnings
     */
    private record Wrote(String text, Doc problem) {}

    private static Answer one(Visit visit) throws Exception {
        if (!KINDS.contains(visit.part("kind"))) {
            return Look.goTo(Inside.path("settings", visit.part("kind")));
        }
        Doc document = visit.get(path(visit, visit.part("name")));
        return page(visit, 200, document, new Wrote(document.pretty("document"), Doc.NOTHING));
    }

    private static String path(Visit visit, String name) {
        if (!KINDS.contains(visit.part("kind"))) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no settings kind of this name. Nothing was done.",
                    "Go back and choose one of the settings.");
        }
        return Inside.path("v1", visit.part("kind"), name);
    }

    private static Answer page(Visit visit, int status, Doc document, Wrote wrote) throws Exception {
        String kind = visit.part("kind");
        String name = document.has("name") ? document.text("name") : document.text("profile_id");
        String path = path(visit, name);
        Map<String, Object> parts = new HashMap<>(Map.of(
                "kind",
                kind,
                "name",
                name,
                "document",
                document,
                "text",
                wrote.text(),
                "problem",
                wrote.problem(),
                "mayChange",
                visit.may("PUT", path)));
        // A masked document is not editable: saving it would store the mask. The form shows revealed or typed values.
        parts.put("masked", document.has("masked") && !wrote.problem().has("detail"));
        parts.put("mayReveal", kind.equals("profiles") && visit.may("POST", path + "/reveal"));
        parts.put("state", kind.equals("alerts") ? visit.maybe(path + "/state", "") : Doc.NOTHING);
        return visit.show(status, new Look.Sheet("document", name, "Workspace", parts));
    }

    /** @param known the name in the URL; empty for a new document, whose name is in the form */
    private static Answer save(Visit visit, Form form, String known) throws Exception {
        String kind = visit.part("kind");
        String name = known.isEmpty() ? form.text("name").strip() : known;
        String version = form.text("version");
        try {
            JsonNode body = Json.parse(form.text("document"));
            Doc saved = visit.keep(
                    path(visit, name),
                    body,
                    form.text("key"),
                    version.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(version) : 0);
            if (!saved.list("warnings").isEmpty()) {
                Doc there = visit.get(path(visit, name));
                return page(visit, 200, there, new Wrote(there.pretty("document"), saved));
            }
        } catch (Refused e) {
            return rejected(visit, form, name, e);
        } catch (SemelException e) {
            Doc problem = new Doc(Problems.document(e, visit.request().id()));
            return rejected(visit, form, name, new Refused(e.code().status(), problem));
        }
        return Look.goTo(Inside.path("settings", kind, name) + "?did=saved");
    }

    /** Shows the typed document again, with the current version of the stored one. */
    private static Answer rejected(Visit visit, Form form, String name, Refused why) throws Exception {
        Doc there = visit.maybe(path(visit, name), "");
        if (!there.node().isObject()) {
            ObjectNode none =
                    JsonNodeFactory.instance.objectNode().put("name", name).put("version", 0);
            there = new Doc(none);
        }
        return page(visit, why.status(), there, new Wrote(form.text("document"), why.problem()));
    }

    private static Answer remove(Visit visit, Form form) throws Exception {
        visit.send("DELETE", path(visit, visit.part("name")), JsonNodeFactory.instance.objectNode(), form.text("key"));
        return Look.goTo(Inside.path("settings", visit.part("kind")) + "?did=removed");
    }

    /** Shows the unmasked document to a user who gives a reason. The audit records it. */
    private static Answer reveal(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("reason", form.text("reason"));
        String path = path(visit, visit.part("name")) + "/reveal";
        Doc document = visit.send("POST", path, body, form.text("key"));
        return page(visit, 200, document, new Wrote(document.pretty("document"), Doc.NOTHING));
    }

    /** Changes a subscription. A topic is a channel, a kind of channel, or a notification event. */
    private static Answer subscribe(Visit visit, Form form) throws Exception {
        String topic = form.text("topic").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String chosen = form.text("subscribed");
        if (chosen.equals("yes") || chosen.equals("no")) {
            body.put("subscribed", chosen.equals("yes"));
        }
        String path = Inside.path("v1", "profiles", visit.part("name"), "subscriptions", topic);
        visit.send("PUT", path, body, form.text("key"));
        return Look.goTo(Inside.path("settings", "profiles", visit.part("name")) + "?did=subscribed");
    }
}
