package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Role;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Names;
import dev.semel.store.Edit;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** People who log in to the pages: list, invite, change their role, remove. Passwords are theirs alone. */
final class PeopleRoutes {
    private static final String ONE = "/v1/people/{name}";
    private static final int MOST_GROUPS = 20;

    private final Semel semel;
    private final People people;
    private final Deeds deeds;

    PeopleRoutes(Semel semel, People people, Deeds deeds) {
        this.semel = semel;
        this.people = people;
        this.deeds = deeds;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/people", Scope.ADMIN, this::list)
                .add(Api.changing("PUT", ONE, Scope.ADMIN, this::put))
                .add(Api.changing("DELETE", ONE, Scope.ADMIN, this::remove));
    }

    private Answer list(Request request) {
        Paging paging = Paging.of(request);
        return Views.page(
                people.list(request.principal().workspace(), SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                PeopleRoutes::view,
                person -> SettingDeeds.cursor(person.name()));
    }

    private static ObjectNode view(People.Person person) {
        ObjectNode out = Views.object()
                .put("name", person.name())
                .put("role", person.role().word())
                .put("changed_at", Views.time(person.changedAt()));
        ArrayNode groups = out.putArray("groups");
        person.groups().forEach(groups::add);
        return out;
    }

    /** Somebody who is there gets the role; for somebody who is not, a link is made by which they set up their log-in. */
    private Answer put(Request request) {
        String name = Names.checked("person", request.parameter("name"));
        Said said = Said.in(request, Set.of("role", "groups"));
        List<String> groups = groups(said.value("groups"));
        Role role = Role.of(said.text("role"));
        if (role == null) {
            throw RunActs.refused("role is one of viewer, operator, reviewer, admin");
        }
        int ws = request.principal().workspace();
        Edit.Put change = people.changing(
                ws, new People.Wanted(name, role, groups), request.principal().tokenId());
        ObjectNode out = Views.object().put("name", name).put("role", role.word());
        if (change == null && groups != null) {
            throw RunActs.refused("groups are given to somebody who is there; invite them first, by their role alone");
        }
        if (change == null) {
            String token = people.invitations().make(ws, role, false, name);
            // Who follows the link may log in, so that it was made is told like any other leave. Nobody has it yet.
            deeds.note(request, new Deeds.Entry("person.invite", name, role.word()));
            return Views.ok(out.put("invitation", "/setup?token=" + token));
        }
        if (!(semel.change(change) instanceof Edit.Placed.Now)) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Somebody changed this person in between. Nothing was changed.",
                    "Look, and ask again.");
        }
        return Views.ok(out.putNull("invitation"));
    }

    /** Null where nothing is said of them. */
    private static @Nullable List<String> groups(@Nullable JsonNode said) {
        if (said == null) {
            return null;
        }
        List<String> groups =
                said.valueStream().map(one -> one.asString("")).distinct().toList();
        if (!said.isArray() || groups.size() > MOST_GROUPS || !groups.stream().allMatch(Names::fits)) {
            throw RunActs.refused("groups is a list of up to " + MOST_GROUPS + " names, e.g. [\"warehouse\"]");
        }
        return groups;
    }

    private Answer remove(Request request) {
        int ws = request.principal().workspace();
        String name = Names.checked("person", request.parameter("name"));
        if (people.find(ws, name) == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such person in this workspace. Nothing was changed.",
                    "They are listed at GET /v1/people.");
        }
        semel.change(people.removing(ws, name, request.principal().tokenId()));
        people.endSessions(ws, name);
        return Views.ok(Views.object().put("name", name).put("removed", true));
    }
}
