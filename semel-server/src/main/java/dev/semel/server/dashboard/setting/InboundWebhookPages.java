package dev.semel.server.dashboard.setting;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.InProcessApiClient.ApiCall;
import dev.semel.server.http.ServerHttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.node.ObjectNode;

/** The pages of webhook sources: create from a preset, send a sample, rotate the secret, change the URL, remove. */
public final class InboundWebhookPages {
    /** Without `generic`, which needs a full document and is created through the API. */
    private static final List<String> PRESETS =
            List.of("stripe", "github", "shopify", "slack", "standard", "cloudevents");

    private static final int MAX_SECRETS = 2;

    private InboundWebhookPages() {}

    public static void addTo(DashboardRouter routes) {
        String one = "/webhooks/{name}";
        routes.page("/webhooks", InboundWebhookPages::list)
                .form("/webhooks", InboundWebhookPages::create)
                .page(one, visit -> one(visit, visit.pathParameter("name"), FormResult.NOTHING))
                .form(one + "/rotate", InboundWebhookPages::rotate)
                .form(one + "/remove", InboundWebhookPages::remove)
                .form(one + "/sample", InboundWebhookPages::sample)
                .form(one + "/deliveries/{delivery_id}/reprocess", InboundWebhookPages::reprocess);
    }

    private static ServerHttpResponse list(DashboardPageRequest visit) throws Exception {
        DashboardListTableModel grid = DashboardListTableModel.titled("Webhook sources")
                .link("Name", "name", "webhooks")
                .text("Preset", doc -> doc.at("document").text("preset"))
                .text("Secrets", doc -> doc.at("document").joinedText("secrets"))
                .code("Path", "path")
                .time("Changed", "changed_at")
                .text("By", "changed_by")
                .whenEmpty(
                        "No webhook source yet. Create one:",
                        "semel webhook create shop --preset stripe --secret shop_signing")
                .withRows(visit.get("/v1/webhooks", visit.cursor()));
        boolean may = visit.isAllowed("PUT", "/v1/webhooks/x") && visit.isAllowed("PUT", "/v1/secrets/x");
        return visit.page("webhooks", "Webhooks", "Webhooks")
                .with("grid", grid)
                .with("presets", PRESETS)
                .with("mayChange", may)
                .show();
    }

    /**
     * @param tried the result of each sample delivery
     * @param secret a generated secret, which is shown only once
     */
    private record FormResult(List<DashboardTemplateJsonAccessor> tried, String secret) {
        static final FormResult NOTHING = new FormResult(List.of(), "");
    }

    private static ServerHttpResponse one(DashboardPageRequest visit, String name, FormResult shown) throws Exception {
        String path = InProcessApiClient.path("v1", "webhooks", name);
        DashboardTemplateJsonAccessor webhook = visit.get(path);
        DashboardListTableModel grid = DashboardListTableModel.titled("Deliveries, newest first")
                .time("When", "at")
                .status("Result", "outcome")
                .text("Type", "type")
                .link("Event", "event_id", "events")
                .text("Note", "note")
                .button("", _ -> "Reprocess", doc -> reprocessUrl(visit, name, doc))
                .whenEmpty("No deliveries in the last seven days.", "")
                .withRows(visit.get(path + "/deliveries", visit.cursor()));
        return visit.page("webhook", "Webhook " + name, "Webhooks")
                .with("webhook", webhook)
                .with("grid", grid)
                .with("tried", shown.tried())
                .with("secret", shown.secret())
                .with("mayChange", visit.isAllowed("PUT", path))
                .show();
    }

    private static String path(DashboardPageRequest visit) {
        return InProcessApiClient.path("v1", "webhooks", visit.pathParameter("name"));
    }

    /** The URL that reprocesses a delivery; empty if it was not accepted, because then no payload is stored. */
    private static String reprocessUrl(
            DashboardPageRequest visit, String name, DashboardTemplateJsonAccessor delivery) {
        String path =
                InProcessApiClient.path("webhooks", name, "deliveries", delivery.text("delivery_id"), "reprocess");
        boolean stored = List.of("accepted", "flagged").contains(delivery.text("outcome"));
        return stored && visit.isAllowed("POST", "/v1" + path) ? path : "";
    }

    private static ServerHttpResponse create(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String name = form.text("name").strip();
        String secret = form.text("signing").isBlank()
                ? name + "_signing"
                : form.text("signing").strip();
        // If the webhook exists, store nothing: the API rejects the request below, or the first click created it.
        boolean there = visit.getOrEmpty(InProcessApiClient.path("v1", "webhooks", name))
                .has("name");
        String made = there ? "" : store(visit, form, secret);
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("preset", form.text("preset"));
        body.putArray("secrets").add(secret);
        visit.save(InProcessApiClient.path("v1", "webhooks", name), body, form.text("key"), 0);
        return made.isEmpty()
                ? visit.redirect("webhook", "webhooks", name)
                : one(visit, name, new FormResult(List.of(), made));
    }

    /**
     * Stores the signing secret. Generates one if the form has none and the secret does not exist. Never replaces an
     * existing secret, because others may use it.
     *
     * @return the generated secret; empty if none was generated
     */
    private static String store(DashboardPageRequest visit, SubmittedForm form, String secret) throws Exception {
        String path = InProcessApiClient.path("v1", "secrets", secret);
        String value = form.text("secret_value");
        boolean there = visit.getOrEmpty(path).has("name");
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
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("value", value.isEmpty() ? made : value);
        visit.send("PUT", path, body, form.text("key"));
        return made;
    }

    /** Adds a secret, ends a rotation, or changes the URL; only if the version did not change in the meantime. */
    private static ServerHttpResponse rotate(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        DashboardTemplateJsonAccessor now = visit.get(path(visit));
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
        for (DashboardTemplateJsonAccessor one : now.at("document").list("secrets")) {
            if (names.size() < (action.equals("only") ? 1 : MAX_SECRETS) && !names.contains(one.text())) {
                names.add(one.text());
            }
        }
        names.forEach(document.putArray("secrets")::add);
        String query = action.equals("address") ? "new_source=true" : "";
        visit.call(DashboardPageRequest.change("PUT", path(visit), query, document, form.text("key"))
                .withHeader("If-Match", "\"" + form.text("version") + "\""));
        String did = action.equals("address") ? "moved" : "saved";
        return made.isEmpty()
                ? visit.redirect(did, "webhooks", visit.pathParameter("name"))
                : one(visit, visit.pathParameter("name"), new FormResult(List.of(), made));
    }

    private static ServerHttpResponse remove(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send("DELETE", form, DashboardTemplateJsonAccessor.newObject(), "webhooks", visit.pathParameter("name"));
        return PageRenderer.redirect("/webhooks?did=removed");
    }

    /** Sends a signed sample delivery twice; the second one is a duplicate. */
    private static ServerHttpResponse sample(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String name = visit.pathParameter("name");
        DashboardTemplateJsonAccessor sample =
                visit.send("POST", form, DashboardTemplateJsonAccessor.newObject(), "webhooks", name, "sample");
        Map<String, String> headers = new HashMap<>();
        sample.at("headers")
                .node()
                .properties()
                .forEach(one -> headers.put(
                        one.getKey().toLowerCase(Locale.ROOT), one.getValue().asString("")));
        ApiCall call = new ApiCall(
                "POST", sample.text("path"), "", headers, sample.text("body").getBytes(StandardCharsets.UTF_8));
        return one(visit, name, new FormResult(List.of(visit.call(call), visit.call(call)), ""));
    }

    private static ServerHttpResponse reprocess(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String name = visit.pathParameter("name");
        String delivery = visit.pathParameter("delivery_id");
        visit.send(
                "POST",
                form,
                DashboardTemplateJsonAccessor.newObject(),
                "webhooks",
                name,
                "deliveries",
                delivery,
                "reprocess");
        return visit.redirect("reprocess", "webhooks", name);
    }
}
