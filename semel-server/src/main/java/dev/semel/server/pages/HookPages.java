package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
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
final class HookPages {
    /** Without `generic`, which needs a full document and is created through the API. */
    private static final List<String> PRESETS =
            List.of("stripe", "github", "shopify", "slack", "standard", "cloudevents");

    private static final int MAX_SECRETS = 2;

    private HookPages() {}

    static void addTo(Router router, Door guard) {
        String one = "/hooks/{name}";
        router.add("GET", "/hooks", Scope.OPEN, guard.page(HookPages::list))
                .add("POST", "/hooks", Scope.OPEN, guard.deed(HookPages::create))
                .add("GET", one, Scope.OPEN, guard.page(visit -> one(visit, visit.part("name"), Shown.NOTHING)))
                .add("POST", one + "/rotate", Scope.OPEN, guard.deed(HookPages::rotate))
                .add("POST", one + "/remove", Scope.OPEN, guard.deed(HookPages::remove))
                .add("POST", one + "/sample", Scope.OPEN, guard.deed(HookPages::sample))
                .add("POST", one + "/deliveries/{delivery_id}/reprocess", Scope.OPEN, guard.deed(HookPages::reprocess));
    }

    private static Answer list(Visit visit) throws Exception {
        Grid grid = Grid.named("Webhook sources")
                .link("Name", "name", "hooks")
                .text("Preset", doc -> doc.at("document").text("preset"))
                .text("Secrets", doc -> doc.at("document").words("secrets"))
                .code("Path", "path")
                .time("Changed", "changed_at")
                .text("By", "changed_by")
                .whenEmpty(
                        "No webhook source yet. Create one:",
                        "semel hooks create shop --preset stripe --secret shop_signing")
                .of(visit.get("/v1/hooks", ListPages.behind(visit)));
        boolean may = visit.may("PUT", "/v1/hooks/x") && visit.may("PUT", "/v1/secrets/x");
        return visit.show(
                "webhooks", "Webhooks", "Webhooks", Map.of("grid", grid, "presets", PRESETS, "mayChange", may));
    }

    /**
     * Results that only the response to a form shows.
     *
     * @param tried the result of each sample delivery
     * @param secret a generated secret, which is shown only once
     */
    private record Shown(List<Doc> tried, String secret) {
        static final Shown NOTHING = new Shown(List.of(), "");
    }

    private static Answer one(Visit visit, String name, Shown shown) throws Exception {
        String path = Inside.path("v1", "hooks", name);
        Doc webhook = visit.get(path);
        Grid grid = Grid.named("Deliveries, newest first")
                .time("When", "at")
                .status("Result", "verdict")
                .text("Type", "type")
                .link("Event", "event_id", "events")
                .text("Note", "note")
                .deed("", _ -> "Reprocess", doc -> reprocessUrl(visit, name, doc))
                .whenEmpty("No deliveries in the last seven days.", "")
                .of(visit.get(path + "/deliveries", ListPages.behind(visit)));
        Map<String, Object> parts = new HashMap<>(
                Map.of("webhook", webhook, "grid", grid, "tried", shown.tried(), "secret", shown.secret()));
        parts.put("mayChange", visit.may("PUT", path));
        return visit.show("webhook", "Webhook " + name, "Webhooks", parts);
    }

    private static String path(Visit visit) {
        return Inside.path("v1", "hooks", visit.part("name"));
    }

    /** The URL that reprocesses a delivery; empty if it was not accepted, because then no payload is stored. */
    private static String reprocessUrl(Visit visit, String name, Doc delivery) {
        String path = Inside.path("hooks", name, "deliveries", delivery.text("delivery_id"), "reprocess");
        boolean stored = List.of("accepted", "flagged").contains(delivery.text("verdict"));
        return stored && visit.may("POST", "/v1" + path) ? path : "";
    }

    private static Answer create(Visit visit, Form form) throws Exception {
        String name = form.text("name").strip();
        String secret = form.text("signing").isBlank()
                ? name + "_signing"
                : form.text("signing").strip();
        // If the webhook exists, store nothing: the API rejects the request below, or the first click created it.
        boolean there = visit.maybe(Inside.path("v1", "hooks", name), "").has("name");
        String made = there ? "" : store(visit, form, secret);
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("preset", form.text("preset"));
        body.putArray("secrets").add(secret);
        visit.keep(Inside.path("v1", "hooks", name), body, form.text("key"), 0);
        return made.isEmpty()
                ? Look.goTo(Inside.path("hooks", name) + "?did=webhook")
                : one(visit, name, new Shown(List.of(), made));
    }

    /**
     * Stores the signing secret. Generates one if the form has none and the secret does not exist. Never replaces an
     * existing secret, because others may use it.
     *
     * @return the generated secret; empty if none was generated
     */
    private static String store(Visit visit, Form form, String secret) throws Exception {
        String path = Inside.path("v1", "secrets", secret);
        String value = form.text("secret_value");
        boolean there = visit.maybe(path, "").has("name");
        if (there && !value.isEmpty()) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A secret named " + secret + " exists. It was not replaced, and nothing else was changed.",
                    "Choose another name, or leave the value empty to use the existing secret.");
        }
        if (there) {
            return "";
        }
        String made = value.isEmpty() ? visit.look().secret() : "";
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("value", value.isEmpty() ? made : value);
        visit.send("PUT", path, body, form.text("key"));
        return made;
    }

    /** Adds a secret, ends a rotation, or changes the URL; only if the version did not change in the meantime. */
    private static Answer rotate(Visit visit, Form form) throws Exception {
        Doc now = visit.get(path(visit));
        ObjectNode document = ((ObjectNode) now.at("document").node()).deepCopy();
        String turn = form.text("turn");
        List<String> names = new ArrayList<>();
        String made = "";
        String next = form.text("signing").strip();
        // An outdated page stores no secret: the API rejects the change below, or it was made before.
        boolean current = now.text("version").equals(form.text("version"));
        if (turn.equals("secret")) {
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
        for (Doc one : now.at("document").list("secrets")) {
            if (names.size() < (turn.equals("only") ? 1 : MAX_SECRETS) && !names.contains(one.text())) {
                names.add(one.text());
            }
        }
        ArrayNode secrets = document.putArray("secrets");
        names.forEach(secrets::add);
        Inside.Call put = Inside.Call.post(path(visit), Json.bytes(document), form.text("key"));
        visit.ask(new Inside.Call(
                        "PUT", path(visit), turn.equals("address") ? "new_source=true" : "", put.headers(), put.body())
                .with("If-Match", "\"" + form.text("version") + "\""));
        String did = turn.equals("address") ? "moved" : "saved";
        return made.isEmpty()
                ? Look.goTo(Inside.path("hooks", visit.part("name")) + "?did=" + did)
                : one(visit, visit.part("name"), new Shown(List.of(), made));
    }

    private static Answer remove(Visit visit, Form form) throws Exception {
        visit.send("DELETE", path(visit), JsonNodeFactory.instance.objectNode(), form.text("key"));
        return Look.goTo("/hooks?did=removed");
    }

    /** Sends a signed sample delivery twice; the second one is a duplicate. */
    private static Answer sample(Visit visit, Form form) throws Exception {
        Doc sample =
                visit.send("POST", path(visit) + "/sample", JsonNodeFactory.instance.objectNode(), form.text("key"));
        Map<String, String> headers = new HashMap<>();
        sample.at("headers")
                .node()
                .properties()
                .forEach(one -> headers.put(
                        one.getKey().toLowerCase(Locale.ROOT), one.getValue().asString("")));
        Inside.Call call = new Inside.Call(
                "POST", sample.text("path"), "", headers, sample.text("body").getBytes(StandardCharsets.UTF_8));
        return one(visit, visit.part("name"), new Shown(List.of(visit.ask(call), visit.ask(call)), ""));
    }

    private static Answer reprocess(Visit visit, Form form) throws Exception {
        String path = path(visit) + Inside.path("deliveries", visit.part("delivery_id"), "reprocess");
        visit.send("POST", path, JsonNodeFactory.instance.objectNode(), form.text("key"));
        return Look.goTo(Inside.path("hooks", visit.part("name")) + "?did=reprocess");
    }
}
