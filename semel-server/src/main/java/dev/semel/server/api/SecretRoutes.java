package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Names;
import dev.semel.server.settings.Secrets;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/secrets`: saves, replaces, removes and lists secrets. No response contains a value. */
final class SecretRoutes {
    private static final int LARGEST = 128 << 10;

    private final Secrets secrets;
    private final SettingDeeds actions;

    SecretRoutes(Secrets secrets, SettingDeeds actions) {
        this.secrets = secrets;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/secrets", Scope.READ, this::list)
                .add("GET", "/v1/secrets/{name}", Scope.READ, this::get)
                .add(Api.changing("PUT", "/v1/secrets/{name}", Scope.ADMIN, this::put)
                        .withMaxBody(LARGEST))
                .add(Api.changing("DELETE", "/v1/secrets/{name}", Scope.ADMIN, this::remove));
    }

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        return Views.page(
                secrets.page(request.principal().workspace(), SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                SecretRoutes::view,
                secret -> SettingDeeds.cursor(secret.name()));
    }

    Answer get(Request request) {
        Secrets.Shown shown = secrets.find(request.principal().workspace(), request.parameter("name"));
        if (shown == null) {
            throw unknown();
        }
        return SettingDeeds.tagged(Views.ok(view(shown)), shown.version());
    }

    private static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No secret with this name exists in this workspace. Nothing was changed.",
                "GET /v1/secrets lists the names of the secrets.");
    }

    private static ObjectNode view(Secrets.Shown secret) {
        return Views.object()
                .put("name", secret.name())
                .put("version", secret.version())
                .put("changed_at", Views.time(secret.changedAt()))
                .put("changed_by", secret.changedBy())
                .put("fingerprint", secret.fingerprint())
                .put("key", secret.key());
    }

    Answer put(Request request) {
        MediaTypes.requireJson(request);
        JsonNode body = Json.parse(request.body());
        JsonNode value = body.path("value");
        if (!body.isObject()
                || !value.isString()
                || !Set.copyOf(body.propertyNames()).equals(Set.of("value"))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The body must be {\"value\": \"…\"} without other members. Nothing was stored.",
                    "Send the value as text.");
        }
        Secrets.Draft draft = new Secrets.Draft(
                request.principal().workspace(),
                Names.checked("secret", request.parameter("name")),
                value.stringValue(),
                SettingDeeds.expected(request),
                request.principal().tokenId());
        return actions.put(
                request,
                // The digest, not the value: the stored idempotency record must not help to guess the secret.
                new Deeds.Deed("secret.put", draft.name(), secrets.digest(draft), String.valueOf(draft.expected())),
                secrets.putting(draft),
                row -> view(secrets.shown(row)));
    }

    Answer remove(Request request) {
        String name = request.parameter("name");
        if (!Names.fits(name)) {
            throw unknown();
        }
        Integer expected = SettingDeeds.expected(request);
        return actions.remove(
                request,
                new Deeds.Deed("secret.remove", name, String.valueOf(expected)),
                secrets.removing(
                        request.principal().workspace(),
                        name,
                        expected,
                        request.principal().tokenId()));
    }
}
