package dev.semel.server.operations.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.store.StoreWriteCommand;
import java.util.Set;

/**
 * Serves `POST /v1/users/{name}/password`: a user changes their own password with the current one. The server stores
 * no idempotency record for it, because a digest could help to guess a password. A repeat with the same two passwords
 * returns the same response.
 */
public final class PasswordChangeRoutes {
    private final SemelRuntime semel;
    private final UserAccountStore accounts;
    private final IdempotentInboundRequestExecutor actions;

    public PasswordChangeRoutes(SemelRuntime semel, UserAccountStore users, IdempotentInboundRequestExecutor actions) {
        this.semel = semel;
        this.accounts = users;
        this.actions = actions;
    }

    public void addTo(ApiRouter router) {
        router.post("/v1/users/{name}/password", TokenScope.READ, this::choose);
    }

    private ServerHttpResponse choose(ServerHttpRequest request) {
        InboundJsonRequestBody json = InboundJsonRequestBody.parse(request, Set.of("old", "new", "keep_session"));
        Principal principal = request.principal();
        String name = WorkspaceSettingNameValidator.requireValid("user", request.parameter("name"));
        String self = UserAccountStore.userNameOf(principal);
        if (self != null && !self.equals(name)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "You can change only your own password, not the password of " + name + ". Nothing was changed.",
                    "Create a password link for this user instead.");
        }
        StoreWriteCommand.SaveSetting change = ApiErrors.orThrow(
                accounts.preparePasswordChange(
                        principal,
                        name,
                        new UserAccountStore.PasswordChangeRequest(json.text("old"), json.text("new"))),
                UserRoutes::unknownUser);
        var entry = new AuditNote("user.password", name, "");
        StoreWriteCommand.SettingResult placed = semel.change(actions.withAudit(
                request, entry, change, outcome -> outcome instanceof StoreWriteCommand.SettingResult.Saved));
        if (!(placed instanceof StoreWriteCommand.SettingResult.Saved)) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Another request changed this user at the same time. The password was not changed.",
                    "Send the request again.");
        }
        // If the response is lost before this, the caller repeats the request: the password is changed and the sessions
        // end then.
        accounts.endOtherSessions(principal.workspace(), name, json.text("keep_session"));
        return RunJsonRenderer.ok(RunJsonRenderer.newObject().put("name", name).put("changed", true));
    }
}
