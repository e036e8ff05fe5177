package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.People;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Names;
import dev.semel.store.Edit;
import java.util.Set;

/**
 * Serves `POST /v1/people/{name}/password`: a user changes their own password with the current one. The server stores
 * no idempotency record for it, because a digest could help to guess a password. A repeat with the same two passwords
 * returns the same response.
 */
final class PasswordRoutes {
    private final Semel semel;
    private final People people;
    private final Deeds actions;

    PasswordRoutes(Semel semel, People people, Deeds actions) {
        this.semel = semel;
        this.people = people;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/people/{name}/password", Scope.READ, this::choose));
    }

    private Answer choose(Request request) {
        Said json = Said.in(request, Set.of("old", "new", "keep_session"));
        Principal asks = request.principal();
        String name = Names.checked("user", request.parameter("name"));
        String self = People.nameOf(asks);
        if (self != null && !self.equals(name)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "You can change only your own password, not the password of " + name + ". Nothing was changed.",
                    "Create a password link for this user instead.");
        }
        Edit.Put change = people.choosing(asks, name, new People.Choice(json.text("old"), json.text("new")));
        if (change == null) {
            throw PeopleRoutes.unknown();
        }
        var entry = new Deeds.Entry("person.password", name, "");
        Edit.Placed placed =
                semel.change(actions.noting(request, entry, change, outcome -> outcome instanceof Edit.Placed.Now));
        if (!(placed instanceof Edit.Placed.Now)) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Another request changed this user at the same time. The password was not changed.",
                    "Send the request again.");
        }
        // If the response is lost before this, the caller repeats the request: the password is changed and the sessions
        // end then.
        people.endOtherSessions(asks.workspace(), name, json.text("keep_session"));
        return Views.ok(Views.object().put("name", name).put("changed", true));
    }
}
