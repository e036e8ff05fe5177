package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.CanonicalJson;
import dev.semel.server.access.ApiTokens;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `/v1/tokens`: creates, lists and revokes API tokens. Only the response that creates a token contains its
 * secret.
 */
final class TokenRoutes {
    private static final int MAX_QUOTA = 10_000_000;

    private final SemelRuntime semel;
    private final ApiTokens tokens;
    private final IdempotentActions actions;

    TokenRoutes(SemelRuntime semel, ApiTokens tokens, IdempotentActions actions) {
        this.semel = semel;
        this.tokens = tokens;
        this.actions = actions;
    }

    /**
     * Creates a token for the caller's workspace or for a new one. An admin may create workspaces, but not access
     * others.
     */
    HttpResponse create(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        Set<TokenScope> scopes = scopes(body.path("scopes"));
        String name = body.path("name").isString() ? body.path("name").stringValue() : "";
        if (name.length() > 100 || name.chars().anyMatch(Character::isISOControl)) {
            throw invalidToken("name must have at most 100 characters and no control characters");
        }
        JsonNode quota = body.path("quota_per_minute");
        boolean noQuota = quota.isMissingNode() || quota.isNull();
        if (!noQuota && !(quota.isInt() && quota.asInt() >= 0 && quota.asInt() <= MAX_QUOTA)) {
            throw invalidToken("quota_per_minute must be a whole number up to " + MAX_QUOTA + "; 0 means no quota");
        }
        ApiTokens.TokenRequest wanted = new ApiTokens.TokenRequest(
                name, scopes, noQuota ? 0 : quota.asInt(), request.principal().tokenId());
        String workspace = workspace(request, body.path("workspace"));
        boolean own = workspace.equals(request.principal().workspaceName());
        ApiTokens.CreatedToken made = tokens.draft(own ? request.principal().workspace() : 0, workspace, wanted);
        StoreCommand.CreateWorkspace inside = own ? null : new StoreCommand.CreateWorkspace(workspace, semel.newSecret(32));
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("token.create", new String(CanonicalJson.bytes(body), StandardCharsets.UTF_8)),
                actions.withAudit(
                        request,
                        new IdempotentActions.AuditNote(
                                "token.create", made.row().tokenId(), made.row().scopes()),
                        new StoreCommand.CreateToken(made.row(), inside),
                        Objects::nonNull),
                row -> row == null ? null : view(row).putNull("token"));
        if (done == null) {
            throw otherWorkspace(request);
        }
        if (!done.replayed() && done.body() instanceof ObjectNode out) {
            // The stored idempotency record does not contain the secret.
            out.put("token", made.secret());
        }
        return done.toResponse();
    }

    private static String workspace(HttpRequest request, JsonNode wanted) {
        String name =
                wanted.isString() ? wanted.stringValue() : request.principal().workspaceName();
        if (!name.matches("[a-z][a-z0-9_-]{0,62}")) {
            throw invalidToken("workspace must be 1 to 63 characters of a-z, 0-9, _ and -, starting with a letter");
        }
        return name;
    }

    private static SemelException otherWorkspace(HttpRequest request) {
        return new SemelException(
                ErrorCode.FORBIDDEN,
                "A token of workspace " + request.principal().workspaceName()
                        + " cannot create tokens for another workspace. No token was created.",
                "Use an admin token of that workspace.");
    }

    private static Set<TokenScope> scopes(JsonNode list) {
        Set<TokenScope> scopes = EnumSet.noneOf(TokenScope.class);
        if (!list.isArray()) {
            throw invalidToken("scopes must be a list of trigger, read, operate, review, admin");
        }
        for (JsonNode word : list) {
            try {
                scopes.add(TokenScope.valueOf(word.asString("").toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException e) {
                throw invalidToken("scopes must be trigger, read, operate, review, admin");
            }
        }
        if (scopes.isEmpty() || scopes.contains(TokenScope.OPEN)) {
            throw invalidToken("scopes must contain at least one of trigger, read, operate, review, admin");
        }
        return scopes;
    }

    private static SemelException invalidToken(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The token request is not valid: " + rule + ". No token was created.",
                "Correct the request and send it again.");
    }

    HttpResponse list(HttpRequest request) {
        List<StoredRows.TokenRow> rows =
                semel.view(reads -> reads.tokens(request.principal().workspace()));
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        if (rows != null) {
            rows.forEach(row -> items.add(view(row)));
        }
        out.putNull("next");
        return JsonViews.ok(out);
    }

    HttpResponse revoke(HttpRequest request) {
        String id = request.parameter("token_id");
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("token.revoke", id),
                new StoreCommand.RevokeToken(
                        request.principal().workspace(), id, request.principal().tokenId()),
                revoked -> Boolean.TRUE.equals(revoked)
                        ? JsonViews.newObject().put("token_id", id).put("revoked", true)
                        : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "No active token with this id exists in this workspace. Nothing was revoked.",
                    "GET /v1/tokens lists the tokens.");
        }
        return done.toResponse();
    }

    private static ObjectNode view(StoredRows.TokenRow row) {
        ObjectNode out = JsonViews.newObject();
        out.put("token_id", row.tokenId());
        out.put("workspace", row.workspace());
        out.put("name", row.name());
        ArrayNode scopes = out.putArray("scopes");
        for (String scope : row.scopes().split(",")) {
            scopes.add(scope);
        }
        out.put("quota_per_minute", row.quotaPerMinute());
        out.put("created_at", JsonViews.formatTime(row.createdAt()));
        out.put("revoked_at", JsonViews.formatTime(row.revokedAt()));
        return out;
    }
}
