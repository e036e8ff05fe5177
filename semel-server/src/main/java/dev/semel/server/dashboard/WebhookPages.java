package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of webhook sources: create from a preset, send a sample, rotate the secret, change the URL, remove. */
final class WebhookPages {
    /** Without `generic`, which needs a full document and is created through the API. */
    private static final List<String> PRESETS =
            List.of("stripe", "github", "shopify", "slack", "standard", "cloudevents");

    private static final int MAX_SECRETS = 2;

    private WebhookPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        String one = "/webhooks/{name}";
        router.add("GET", "/webhooks", TokenScope.OPEN, guard.page(WebhookPages::list))
                .add("POST", "/webhooks", TokenScope.OPEN, guard.form(WebhookPages::create))
                .add(
                        "GET",
                        one,
                        TokenScope.OPEN,
                        guard.page(visit -> one(visit, visit.pathParameter("name"), FormResult.NOTHING)))
                .add("POST", one + "/rotate", TokenScope.OPEN, guard.form(WebhookPages::rotate))
                .add("POST", one + "/remove", TokenScope.OPEN, guard.form(WebhookPages::remove))
                .add("POST", one + "/sample", TokenScope.OPEN, guard.form(WebhookPages::sample))
                .add(
                        "POST",
                        one + "/deliveries/{delivery_id}/reprocess",
                        TokenScope.OPEN,
                        guard.form(WebhookPages::reprocess));
    }

    private static HttpResponse list(PageVisit visit) throws Exception {
        TableView grid = TableView.titled("Webhook sources")
                .link("Name", "name", "webhooks")
                .text("Preset", doc -> doc.at("document").text("preset"))
                .text("Secrets", doc -> doc.at("document").joinedText("secrets"))
                .code("Path", "path")
                .time("Changed", "changed_at")
                .text("By", "changed_by")
                .whenEmpty(
                        "No webhook source yet. Create one:",
                        "semel webhook create shop --preset stripe --secret shop_signing")
                .withRows(visit.get("/v1/webhooks", ListPages.cursorQuery(visit)));
        boolean may = visit.isAllowed("PUT", "/v1/webhooks/x") && visit.isAllowed("PUT", "/v1/secrets/x");
        return visit.show(
                "webhooks", "Webhooks", "Webhooks", Map.of("grid", grid, "presets", PRESETS, "mayChange", may));
    }

    /**
     * Results that only the response to a form shows.
     *
     * @param tried the result of each sample delivery
     * @param secret a generated secret, which is shown only once
     */
    private record FormResult(List<ApiJson> tried, String secret) {
        static final FormResult NOTHING = new FormResult(List.of(), "");
    }

    private static HttpResponse one(PageVisit visit, String name, FormResult shown) throws Exception {
        String path = InternalApiClient.path("v1", "webhooks", name);
        ApiJson webhook = visit.get(path);
        TableView grid = TableView.titled("Deliveries, newest first")
                .time("When", "at")
                .status("Result", "outcome")
                .text("Type", "type")
                .link("Event", "event_id", "events")
                .text("Note", "note")
                .button("", _ -> "Reprocess", doc -> reprocessUrl(visit, name, doc))
                .whenEmpty("No deliveries in the last seven days.", "")
                .withRows(visit.get(path + "/deliveries", ListPages.cursorQuery(visit)));
        Map<String, Object> parts = new HashMap<>(
                Map.of("webhook", webhook, "grid", grid, "tried", shown.tried(), "secret", shown.secret()));
        parts.put("mayChange", visit.isAllowed("PUT", path));
        return visit.show("webhook", "Webhook " + name, "Webhooks", parts);
    }

    private static String path(PageVisit visit) {
        return InternalApiClient.path("v1", "webhooks", visit.pathParameter("name"));
    }

    /** The URL that reprocesses a delivery; empty if it was not accepted, because then no payload is stored. */
    private static String reprocessUrl(PageVisit visit, String name, ApiJson delivery) {
        String path = InternalApiClient.path("webhooks", name, "deliveries", delivery.text("delivery_id"), "reprocess");
        boolean stored = List.of("accepted", "flagged").contains(delivery.text("outcome"));
        return stored && visit.isAllowed("POST", "/v1" + path) ? path : "";
    }

    private static HttpResponse create(PageVisit visit, SubmittedForm form) throws Exception {
        String name = form.text("name").strip();
        String secret = form.text("signing").isBlank()
                ? name + "_signing"
                : form.text("signing").strip();
        // If the webhook exists, store nothing: the API rejects the request below, or the first click created it.
        boolean there = visit.getOrEmpty(InternalApiClient.path("v1", "webhooks", name), "")
                .has("name");
        String made = there ? "" : store(visit, form, secret);
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("preset", form.text("preset"));
        body.putArray("secrets").add(secret);
        visit.save(InternalApiClient.path("v1", "webhooks", name), body, form.text("key"), 0);
        return made.isEmpty()
                ? PageRenderer.redirect(InternalApiClient.path("webhooks", name) + "?did=webhook")
                : one(visit, name, new FormResult(List.of(), made));
    }

    /**
     * Stores the signing secret. Generates one if the form has none and the secret does not exist. Never replaces an
     * existing secret, because others may use it.
     *
     * @return the generated secret; empty if none was generated
     */
    private static String store(PageVisit visit, SubmittedForm form, String secret) throws Exception {
        String path = InternalApiClient.path("v1", "secrets", secret);
        String value = form.text("secret_value");
        boolean there = visit.getOrEmpty(path, "").has("name");
        if (there && !value.isEmpty()) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A secret named " + secret + " exists. It was not replaced, and nothing else was changed.",
                    "Choose another name, or leave the value empty to use the existing secret.");
        }
        if (there) {
            return "";
        }
        String made = value.isEmpty() ? visit.renderer().newSigningSecret() : "";
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("value", value.isEmpty() ? made : value);
        visit.send("PUT", path, body, form.text("key"));
        return made;
    }

    /** Adds a secret, ends a rotation, or changes the URL; only if the version did not change in the meantime. */
    private static HttpResponse rotate(PageVisit visit, SubmittedForm form) throws Exception {
        ApiJson now = visit.get(path(visit));
        ObjectNode document = ((ObjectNode) now.at("document").node()).deepCopy();
        String action = form.text("action");
        List<String> names = new ArrayList<>();
        String made = "";
        String next = form.text("signing").strip();
        // An outdated page stores no secret: the API rejects the change below, or it was made before.
        boolean current = now.text("version").equals(form.text("version"));
        if (action.equals("secret")) {
            if (current
                    && now.at("document").list("secrets").stream()
                            .anyMatch(one -> one.text().equals(next))) {
                throw new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "The webhook accepts the secret " + next + " already. Nothing was changed.",
                        "Enter the name of another secret.");
            }
            made = current ? store(visit, form, next) : "";
            names.add(next);
        }
        for (ApiJson one : now.at("document").list("secrets")) {
            if (names.size() < (action.equals("only") ? 1 : MAX_SECRETS) && !names.contains(one.text())) {
                names.add(one.text());
            }
        }
        ArrayNode secrets = document.putArray("secrets");
        names.forEach(secrets::add);
        InternalApiClient.ApiCall put =
                InternalApiClient.ApiCall.post(path(visit), StrictJson.bytes(document), form.text("key"));
        visit.call(new InternalApiClient.ApiCall(
                        "PUT",
                        path(visit),
                        action.equals("address") ? "new_source=true" : "",
                        put.headers(),
                        put.body())
                .withHeader("If-Match", "\"" + form.text("version") + "\""));
        String did = action.equals("address") ? "moved" : "saved";
        return made.isEmpty()
                ? PageRenderer.redirect(InternalApiClient.path("webhooks", visit.pathParameter("name")) + "?did=" + did)
                : one(visit, visit.pathParameter("name"), new FormResult(List.of(), made));
    }

    private static HttpResponse remove(PageVisit visit, SubmittedForm form) throws Exception {
        visit.send("DELETE", path(visit), JsonNodeFactory.instance.objectNode(), form.text("key"));
        return PageRenderer.redirect("/webhooks?did=removed");
    }

    /** Sends a signed sample delivery twice; the second one is a duplicate. */
    private static HttpResponse sample(PageVisit visit, SubmittedForm form) throws Exception {
        ApiJson sample =
                visit.send("POST", path(visit) + "/sample", JsonNodeFactory.instance.objectNode(), form.text("key"));
        Map<String, String> headers = new HashMap<>();
        sample.at("headers")
                .node()
                .properties()
                .forEach(one -> headers.put(
                        one.getKey().toLowerCase(Locale.ROOT), one.getValue().asString("")));
        InternalApiClient.ApiCall call = new InternalApiClient.ApiCall(
                "POST", sample.text("path"), "", headers, sample.text("body").getBytes(StandardCharsets.UTF_8));
        return one(visit, visit.pathParameter("name"), new FormResult(List.of(visit.call(call), visit.call(call)), ""));
    }

    private static HttpResponse reprocess(PageVisit visit, SubmittedForm form) throws Exception {
        String path =
                path(visit) + InternalApiClient.path("deliveries", visit.pathParameter("delivery_id"), "reprocess");
        visit.send("POST", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return PageRenderer.redirect(
                InternalApiClient.path("webhooks", visit.pathParameter("name")) + "?did=reprocess");
    }
}
