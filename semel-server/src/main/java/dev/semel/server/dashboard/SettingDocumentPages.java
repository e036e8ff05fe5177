package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.ProblemResponses;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The page of one settings document (channel, route, template, alert or profile): show, save, remove. */
final class SettingDocumentPages {
    /** The kinds that users edit as JSON documents. Secrets and tokens have their own forms. */
    static final Set<String> KINDS = Set.of("channels", "routes", "templates", "alerts", "profiles");

    private static final String NEW = "";

    private SettingDocumentPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        String one = "/settings/{kind}/{name}";
        router.add("GET", one, TokenScope.OPEN, guard.page(SettingDocumentPages::one))
                .add("POST", "/settings/{kind}", TokenScope.OPEN, guard.form((visit, form) -> save(visit, form, NEW)))
                .add(
                        "POST",
                        one,
                        TokenScope.OPEN,
                        guard.form((visit, form) -> save(visit, form, visit.pathParameter("name"))))
                .add("POST", one + "/remove", TokenScope.OPEN, guard.form(SettingDocumentPages::remove))
                .add("POST", one + "/reveal", TokenScope.OPEN, guard.form(SettingDocumentPages::reveal))
                .add("POST", one + "/subscriptions", TokenScope.OPEN, guard.form(SettingDocumentPages::subscribe));
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
                  "metric": "conflict_rate",
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
    private record FormContent(String text, ApiJson problem) {}

    private static HttpResponse one(PageVisit visit) throws Exception {
        if (!KINDS.contains(visit.pathParameter("kind"))) {
            return PageRenderer.redirect(InternalApiClient.path("settings", visit.pathParameter("kind")));
        }
        ApiJson document = visit.get(path(visit, visit.pathParameter("name")));
        return page(visit, 200, document, new FormContent(document.pretty("document"), ApiJson.EMPTY));
    }

    private static String path(PageVisit visit, String name) {
        if (!KINDS.contains(visit.pathParameter("kind"))) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no settings kind of this name. Nothing was done.",
                    "Go back and choose one of the settings.");
        }
        return InternalApiClient.path("v1", visit.pathParameter("kind"), name);
    }

    private static HttpResponse page(PageVisit visit, int status, ApiJson document, FormContent wrote)
            throws Exception {
        String kind = visit.pathParameter("kind");
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
                visit.isAllowed("PUT", path)));
        // A masked document is not editable: saving it would store the mask. The form shows revealed or typed values.
        parts.put("masked", document.has("masked") && !wrote.problem().has("detail"));
        parts.put("mayReveal", kind.equals("profiles") && visit.isAllowed("POST", path + "/reveal"));
        parts.put("state", kind.equals("alerts") ? visit.getOrEmpty(path + "/state", "") : ApiJson.EMPTY);
        return visit.show(status, new PageRenderer.PageContent("document", name, "Workspace", parts));
    }

    /** @param known the name in the URL; empty for a new document, whose name is in the form */
    private static HttpResponse save(PageVisit visit, SubmittedForm form, String known) throws Exception {
        String kind = visit.pathParameter("kind");
        String name = known.isEmpty() ? form.text("name").strip() : known;
        String version = form.text("version");
        try {
            JsonNode body = StrictJson.parse(form.text("document"));
            ApiJson saved = visit.save(
                    path(visit, name),
                    body,
                    form.text("key"),
                    version.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(version) : 0);
            if (!saved.list("warnings").isEmpty()) {
                ApiJson there = visit.get(path(visit, name));
                return page(visit, 200, there, new FormContent(there.pretty("document"), saved));
            }
        } catch (ApiRejectionException e) {
            return rejected(visit, form, name, e);
        } catch (SemelException e) {
            ApiJson problem =
                    new ApiJson(ProblemResponses.toDocument(e, visit.request().id()));
            return rejected(
                    visit, form, name, new ApiRejectionException(e.code().status(), problem));
        }
        return PageRenderer.redirect(InternalApiClient.path("settings", kind, name) + "?did=saved");
    }

    /** Shows the typed document again, with the current version of the stored one. */
    private static HttpResponse rejected(PageVisit visit, SubmittedForm form, String name, ApiRejectionException why)
            throws Exception {
        ApiJson there = visit.getOrEmpty(path(visit, name), "");
        if (!there.node().isObject()) {
            ObjectNode none =
                    JsonNodeFactory.instance.objectNode().put("name", name).put("version", 0);
            there = new ApiJson(none);
        }
        return page(visit, why.status(), there, new FormContent(form.text("document"), why.problem()));
    }

    private static HttpResponse remove(PageVisit visit, SubmittedForm form) throws Exception {
        visit.send(
                "DELETE",
                path(visit, visit.pathParameter("name")),
                JsonNodeFactory.instance.objectNode(),
                form.text("key"));
        return PageRenderer.redirect(InternalApiClient.path("settings", visit.pathParameter("kind")) + "?did=removed");
    }

    /** Shows the unmasked document to a user who gives a reason. The audit records it. */
    private static HttpResponse reveal(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("reason", form.text("reason"));
        String path = path(visit, visit.pathParameter("name")) + "/reveal";
        ApiJson document = visit.send("POST", path, body, form.text("key"));
        return page(visit, 200, document, new FormContent(document.pretty("document"), ApiJson.EMPTY));
    }

    /** Changes a subscription. A topic is a channel, a kind of channel, or a notification event. */
    private static HttpResponse subscribe(PageVisit visit, SubmittedForm form) throws Exception {
        String topic = form.text("topic").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        String chosen = form.text("subscribed");
        if (chosen.equals("yes") || chosen.equals("no")) {
            body.put("subscribed", chosen.equals("yes"));
        }
        String path = InternalApiClient.path("v1", "profiles", visit.pathParameter("name"), "subscriptions", topic);
        visit.send("PUT", path, body, form.text("key"));
        return PageRenderer.redirect(
                InternalApiClient.path("settings", "profiles", visit.pathParameter("name")) + "?did=subscribed");
    }
}
