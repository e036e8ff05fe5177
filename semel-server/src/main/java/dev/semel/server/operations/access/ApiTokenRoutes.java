package dev.semel.server.operations.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.ApiTokenStore;
import dev.semel.server.http.RequestAuthorizer;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/tokens`. Only the response that creates a token contains its secret. */
public record ApiTokenRoutes(SemelRuntime semel, ApiTokenStore tokens, IdempotentInboundRequestExecutor actions) {
    private static final int MAX_QUOTA = 10_000_000;
    private static final String SCOPES = "trigger, read, operate, review, admin, server";

    /** For the caller's workspace. With scope `server` also for a new workspace, which it creates. */
    public ServerHttpResponse create(ServerHttpRequest request) {
        JsonNode body = InboundJsonRequestBody.parseAny(request);
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
        ApiTokenStore.TokenRequest wanted = new ApiTokenStore.TokenRequest(
                name, scopes, noQuota ? 0 : quota.asInt(), request.principal().tokenId());
        String workspace = workspace(request, body.path("workspace"));
        boolean own = workspace.equals(request.principal().workspaceName());
        if (!own || scopes.contains(TokenScope.SERVER)) {
            // Before the store is read, so that the response does not reveal which workspaces exist.
            RequestAuthorizer.requireScope(request.principal(), TokenScope.SERVER);
        }
        ApiTokenStore.CreatedToken made = tokens.draft(own ? request.principal().workspace() : 0, workspace, wanted);
        StoreWriteCommand.CreateWorkspace inside =
                own ? null : new StoreWriteCommand.CreateWorkspace(workspace, semel.newSecret(32));
        ActionResult done = ApiErrors.orThrow(
                actions.runOnce(
                        request,
                        new ActionRequest("token.create", ActionRequest.canonical(body)),
                        actions.withAudit(
                                request,
                                new AuditNote(
                                        "token.create",
                                        made.row().tokenId(),
                                        made.row().scopes()),
                                new StoreWriteCommand.CreateToken(made.row(), inside),
                                Objects::nonNull),
                        row -> row == null ? null : view(row).putNull("token")),
                () -> otherWorkspace(request));
        if (!done.replayed() && done.body() instanceof ObjectNode out) {
            // The stored idempotency record does not contain the secret.
            out.put("token", made.secret());
        }
        return done.toResponse();
    }

    private static String workspace(ServerHttpRequest request, JsonNode wanted) {
        String name =
                wanted.isString() ? wanted.stringValue() : request.principal().workspaceName();
        if (!name.matches("[a-z][a-z0-9_-]{0,62}")) {
            throw invalidToken("workspace must be 1 to 63 characters of a-z, 0-9, _ and -, starting with a letter");
        }
        return name;
    }

    private static SemelException otherWorkspace(ServerHttpRequest request) {
        return new SemelException(
                ErrorCode.FORBIDDEN,
                "A token of workspace " + request.principal().workspaceName()
                        + " cannot create tokens for another workspace. No token was created.",
                "Use an admin token of that workspace.");
    }

    private static Set<TokenScope> scopes(JsonNode list) {
        Set<TokenScope> scopes = EnumSet.noneOf(TokenScope.class);
        if (!list.isArray()) {
            throw invalidToken("scopes must be a list with one or more of " + SCOPES);
        }
        for (JsonNode word : list) {
            try {
                scopes.add(TokenScope.valueOf(word.asString("").toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException e) {
                throw invalidToken("each scope must be one of " + SCOPES);
            }
        }
        if (scopes.isEmpty() || scopes.contains(TokenScope.OPEN)) {
            throw invalidToken("scopes must contain at least one of " + SCOPES);
        }
        return scopes;
    }

    private static SemelException invalidToken(String rule) {
        return ApiErrors.invalidInput(
                "The token request is not valid: " + rule + ". No token was created.",
                "Correct the request and send it again.");
    }

    public ServerHttpResponse list(ServerHttpRequest request) {
        List<DatabaseRows.TokenRow> rows = StoreReader.read(
                semel, reads -> reads.tokens(request.principal().workspace()));
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(rows, ApiTokenRoutes::view, null));
    }

    public ServerHttpResponse revoke(ServerHttpRequest request) {
        String id = request.parameter("token_id");
        return ApiErrors.orNotFound(
                        actions.runOnce(
                                request,
                                new ActionRequest("token.revoke", id),
                                new StoreWriteCommand.RevokeToken(
                                        request.principal().workspace(),
                                        id,
                                        request.principal().tokenId()),
                                revoked -> Boolean.TRUE.equals(revoked)
                                        ? RunJsonRenderer.newObject()
                                                .put("token_id", id)
                                                .put("revoked", true)
                                        : null),
                        "No active token with this id exists in this workspace. Nothing was revoked.",
                        "GET /v1/tokens lists the tokens.")
                .toResponse();
    }

    private static ObjectNode view(DatabaseRows.TokenRow row) {
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("token_id", row.tokenId());
        out.put("workspace", row.workspace());
        out.put("name", row.name());
        List.of(ApiTokenStore.formatScopes(ApiTokenStore.scopesOf(row)).split(","))
                .forEach(out.putArray("scopes")::add);
        out.put("quota_per_minute", row.quotaPerMinute());
        out.put("created_at", RunJsonRenderer.formatTime(row.createdAt()));
        out.put("revoked_at", RunJsonRenderer.formatTime(row.revokedAt()));
        return out;
    }
}
