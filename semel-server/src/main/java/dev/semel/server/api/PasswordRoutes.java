package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.SettingNames;
import dev.semel.store.StoreCommand;
import java.util.Set;

/**
 * Serves `POST /v1/people/{name}/password`: a user changes their own password with the current one. The server stores
 * no idempotency record for it, because a digest could help to guess a password. A repeat with the same two passwords
 * returns the same response.
 */
final class PasswordRoutes {
    private final SemelRuntime semel;
    private final UserAccounts people;
    private final IdempotentActions actions;

    PasswordRoutes(SemelRuntime semel, UserAccounts people, IdempotentActions actions) {
        this.semel = semel;
        this.people = people;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add(ApiRoutes.mutationRoute("POST", "/v1/people/{name}/password", TokenScope.READ, this::choose));
    }

    private HttpResponse choose(HttpRequest request) {
        JsonBody json = JsonBody.parse(request, Set.of("old", "new", "keep_session"));
        Principal asks = request.principal();
        String name = SettingNames.requireValid("user", request.parameter("name"));
        String self = UserAccounts.userNameOf(asks);
        if (self != null && !self.equals(name)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "You can change only your own password, not the password of " + name + ". Nothing was changed.",
                    "Create a password link for this user instead.");
        }
        StoreCommand.SaveSetting change = people.preparePasswordChange(asks, name, new UserAccounts.PasswordChangeRequest(json.text("old"), json.text("new")));
        if (change == null) {
            throw UserRoutes.unknownUser();
        }
        var entry = new IdempotentActions.AuditNote("person.password", name, "");
        StoreCommand.SettingResult placed =
                semel.change(actions.withAudit(request, entry, change, outcome -> outcome instanceof StoreCommand.SettingResult.Saved));
        if (!(placed instanceof StoreCommand.SettingResult.Saved)) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Another request changed this user at the same time. The password was not changed.",
                    "Send the request again.");
        }
        // If the response is lost before this, the caller repeats the request: the password is changed and the sessions
        // end then.
        people.endOtherSessions(asks.workspace(), name, json.text("keep_session"));
        return JsonViews.ok(JsonViews.newObject().put("name", name).put("changed", true));
    }
}
