package dev.semel.server.operations.setting;

import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.SecretReceivers;
import dev.semel.server.settings.SecretStore;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/secrets`: saves, replaces, removes and lists secrets. No response contains a value. */
record SecretRoutes(SecretStore secrets, WorkspaceSettingUpdater actions) {
    private static final int LARGEST = 128 << 10;

    void addTo(ApiRouter router) {
        router.get("/v1/secrets", TokenScope.READ, this::list)
                .get("/v1/secrets/{name}", TokenScope.READ, this::get)
                .change("PUT", "/v1/secrets/{name}", TokenScope.ADMIN, this::put, LARGEST)
                .delete("/v1/secrets/{name}", TokenScope.ADMIN, this::remove);
    }

    ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        return RunJsonRenderer.pageResponse(
                secrets.page(request.principal().workspace(), paging.afterText(), paging.limit()),
                paging.limit(),
                SecretRoutes::view,
                secret -> PagingParameters.encode(secret.name()));
    }

    ServerHttpResponse get(ServerHttpRequest request) {
        SecretStore.SecretSummary shown = ApiErrors.orThrow(
                secrets.find(request.principal().workspace(), request.parameter("name")), SecretRoutes::unknown);
        return WorkspaceSettingUpdater.withEtag(RunJsonRenderer.ok(view(shown)), shown.version());
    }

    private static SemelException unknown() {
        return ApiErrors.notFound(
                "No secret with this name exists in this workspace. Nothing was changed.",
                "GET /v1/secrets lists the names of the secrets.");
    }

    private static ObjectNode view(SecretStore.SecretSummary secret) {
        ObjectNode out = RunJsonRenderer.newObject()
                .put("name", secret.name())
                .put("version", secret.version())
                .put("changed_at", RunJsonRenderer.formatTime(secret.changedAt()))
                .put("changed_by", secret.changedBy())
                .put("fingerprint", secret.fingerprint())
                .put("key", secret.key());
        secret.receivers().hosts().forEach(out.putArray("hosts")::add);
        return out;
    }

    ServerHttpResponse put(ServerHttpRequest request) {
        JsonNode body = InboundJsonRequestBody.parseAny(request);
        JsonNode value = body.path("value");
        if (!body.isObject() || !value.isString() || !Set.of("value", "hosts").containsAll(body.propertyNames())) {
            throw ApiErrors.invalidInput(
                    "The body must be {\"value\": \"…\"}, optionally with \"hosts\". Nothing was stored.",
                    "Send the value as text. To change the hosts, send the value too.");
        }
        SecretStore.SecretDraft draft = new SecretStore.SecretDraft(
                request.principal().workspace(),
                WorkspaceSettingNameValidator.requireValid("secret", request.parameter("name")),
                value.stringValue(),
                SecretReceivers.parse(body.path("hosts")),
                WorkspaceSettingUpdater.expectedVersion(request),
                request.principal().tokenId());
        return actions.put(
                request,
                // The digest, not the value: the stored idempotency record must not help to guess the secret.
                new ActionRequest("secret.put", draft.name(), secrets.digest(draft), String.valueOf(draft.expected())),
                secrets.preparePut(draft),
                row -> view(secrets.summarize(row)));
    }

    ServerHttpResponse remove(ServerHttpRequest request) {
        String name = request.parameter("name");
        if (!WorkspaceSettingNameValidator.isValid(name)) {
            throw unknown();
        }
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        return actions.remove(
                request,
                new ActionRequest("secret.remove", name, String.valueOf(expected)),
                secrets.prepareRemove(
                        request.principal().workspace(),
                        name,
                        expected,
                        request.principal().tokenId()));
    }
}
