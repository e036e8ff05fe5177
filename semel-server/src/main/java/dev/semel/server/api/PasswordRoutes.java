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
 * Another password, for whoever knows the one they have: that is the leave, and a token only says in which workspace.
 * Nothing of either is kept for whoever asks again, since a digest of a password could be guessed from: asked again with
 * the same two it is done already, and answers the same.
 */
final class PasswordRoutes {
    private final Semel semel;
    private final People people;
    private final Deeds deeds;

    PasswordRoutes(Semel semel, People people, Deeds deeds) {
        this.semel = semel;
        this.people = people;
        this.deeds = deeds;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/people/{name}/password", Scope.READ, this::choose));
    }

    private Answer choose(Request request) {
        Said said = Said.in(request, Set.of("old", "new", "keep_session"));
        Principal asks = request.principal();
        String name = Names.checked("person", request.parameter("name"));
        String self = People.nameOf(asks);
        if (self != null && !self.equals(name)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "You choose your own password, not that of " + name + ". Nothing was changed.",
                    "Make a link by which they choose another one.");
        }
        Edit.Put change = people.choosing(asks, name, new People.Choice(said.text("old"), said.text("new")));
        if (change == null) {
            throw PeopleRoutes.unknown();
        }
        var entry = new Deeds.Entry("person.password", name, "");
        Edit.Placed placed =
                semel.change(deeds.noting(request, entry, change, outcome -> outcome instanceof Edit.Placed.Now));
        if (!(placed instanceof Edit.Placed.Now)) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Somebody changed this person in between. The password is the old one.",
                    "Ask again.");
        }
        // Whoever's answer is lost before this asks again: the password stands, and the sessions end then.
        people.endOtherSessions(asks.workspace(), name, said.text("keep_session"));
        return Views.ok(Views.object().put("name", name).put("changed", true));
    }
}
