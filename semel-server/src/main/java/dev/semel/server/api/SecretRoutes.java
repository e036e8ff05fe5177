package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.SecretStore;
import dev.semel.server.settings.SettingNames;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/secrets`: saves, replaces, removes and lists secrets. No response contains a value. */
final class SecretRoutes {
    private static final int LARGEST = 128 << 10;

    private final SecretStore secrets;
    private final SettingActions actions;

    SecretRoutes(SecretStore secrets, SettingActions actions) {
        this.secrets = secrets;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/secrets", TokenScope.READ, this::list)
                .add("GET", "/v1/secrets/{name}", TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("PUT", "/v1/secrets/{name}", TokenScope.ADMIN, this::put)
                        .withMaxBody(LARGEST))
                .add(ApiRoutes.mutationRoute("DELETE", "/v1/secrets/{name}", TokenScope.ADMIN, this::remove));
    }

    HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        return JsonViews.pageResponse(
                secrets.page(request.principal().workspace(), SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                SecretRoutes::view,
                secret -> SettingActions.nameCursor(secret.name()));
    }

    HttpResponse get(HttpRequest request) {
        SecretStore.SecretSummary shown = secrets.find(request.principal().workspace(), request.parameter("name"));
        if (shown == null) {
            throw unknown();
        }
        return SettingActions.withEtag(JsonViews.ok(view(shown)), shown.version());
    }

    private static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No secret with this name exists in this workspace. Nothing was changed.",
                "GET /v1/secrets lists the names of the secrets.");
    }

    private static ObjectNode view(SecretStore.SecretSummary secret) {
        return JsonViews.newObject()
                .put("name", secret.name())
                .put("version", secret.version())
                .put("changed_at", JsonViews.formatTime(secret.changedAt()))
                .put("changed_by", secret.changedBy())
                .put("fingerprint", secret.fingerprint())
                .put("key", secret.key());
    }

    HttpResponse put(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        JsonNode value = body.path("value");
        if (!body.isObject()
                || !value.isString()
                || !Set.copyOf(body.propertyNames()).equals(Set.of("value"))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The body must be {\"value\": \"…\"} without other members. Nothing was stored.",
                    "Send the value as text.");
        }
        SecretStore.SecretDraft draft = new SecretStore.SecretDraft(
                request.principal().workspace(),
                SettingNames.requireValid("secret", request.parameter("name")),
                value.stringValue(),
                SettingActions.expectedVersion(request),
                request.principal().tokenId());
        return actions.put(
                request,
                // The digest, not the value: the stored idempotency record must not help to guess the secret.
                new IdempotentActions.ActionRequest(
                        "secret.put", draft.name(), secrets.digest(draft), String.valueOf(draft.expected())),
                secrets.preparePut(draft),
                row -> view(secrets.summarize(row)));
    }

    HttpResponse remove(HttpRequest request) {
        String name = request.parameter("name");
        if (!SettingNames.isValid(name)) {
            throw unknown();
        }
        Integer expected = SettingActions.expectedVersion(request);
        return actions.remove(
                request,
                new IdempotentActions.ActionRequest("secret.remove", name, String.valueOf(expected)),
                secrets.prepareRemove(
                        request.principal().workspace(),
                        name,
                        expected,
                        request.principal().tokenId()));
    }
}
