package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Role;
import dev.semel.server.auth.Sessions;
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

/** People who log in to the pages, and their sessions: list, invite, change, remove. Passwords are theirs alone. */
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
                .add(Api.changing("DELETE", ONE, Scope.ADMIN, this::remove))
                .add(Api.changing("POST", ONE + "/reset", Scope.ADMIN, this::reset))
                .add("GET", ONE + "/sessions", Scope.ADMIN, this::sessionsOf)
                .add(Api.changing("DELETE", ONE + "/sessions", Scope.ADMIN, this::endSessions))
                .add("GET", "/v1/sessions", Scope.READ, this::sessions)
                .add(Api.changing("DELETE", "/v1/sessions/{session_id}", Scope.READ, this::endSession));
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
                .put("disabled", person.disabled())
                .put("logs_in_with", person.fromOutside() ? "provider" : "password")
                .put("changed_at", Views.time(person.changedAt()));
        ArrayNode groups = out.putArray("groups");
        person.groups().forEach(groups::add);
        return out;
    }

    /** Somebody who is there is changed; for somebody who is not, a link is made by which they set up their log-in. */
    private Answer put(Request request) {
        String name = Names.checked("person", request.parameter("name"));
        Said said = Said.in(request, Set.of("role", "disabled", "groups"));
        People.Change wanted = wanted(said);
        int ws = request.principal().workspace();
        Edit.Put change = people.changing(ws, name, wanted, request.principal().tokenId());
        if (change == null && wanted.groups() != null) {
            throw RunActs.refused("groups are given to somebody who is there; invite them first, by their role alone");
        }
        if (change == null && request.header("If-Match") == null) {
            return invited(request, name, wanted.role());
        }
        if (change == null) {
            throw unknown();
        }
        if (request.header("If-None-Match") != null) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "There is a person of this name. Nothing was changed, and no link was made.",
                    "Give them another role, or make a link for another password.");
        }
        if (people.administrators().safely(change, edit -> now(semel.change(edit))) == null) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Somebody changed this person in between. Nothing was changed.",
                    "Look, and ask again.");
        }
        if (Boolean.TRUE.equals(wanted.disabled())) {
            // They are out already: who is disabled has no session that counts. This is for when they are let in again.
            people.endSessions(ws, name);
        }
        People.Person now = found(ws, name);
        return Views.ok(Views.object()
                .put("name", name)
                .put("role", now.role().word())
                .put("disabled", now.disabled())
                .putNull("invitation"));
    }

    private static Edit.Placed.@Nullable Now now(Edit.@Nullable Placed placed) {
        return placed instanceof Edit.Placed.Now done ? done : null;
    }

    private static People.Change wanted(Said said) {
        String word = said.text("role");
        Role role = word.isEmpty() ? null : Role.of(word);
        JsonNode disabled = said.value("disabled");
        if (role == null && !word.isEmpty()) {
            throw RunActs.refused("role is one of viewer, operator, reviewer, admin");
        }
        if (disabled != null && !disabled.isBoolean()) {
            throw RunActs.refused("disabled is true or false");
        }
        List<String> groups = groups(said.value("groups"));
        if (role == null && disabled == null && groups == null) {
            throw RunActs.refused("say what is to change: a role, groups, or disabled");
        }
        return new People.Change(role, disabled == null ? null : disabled.asBoolean(), groups);
    }

    private Answer invited(Request request, String name, @Nullable Role role) {
        if (role == null) {
            throw unknown();
        }
        String token = people.invitations().make(request.principal().workspace(), role, false, name);
        // Who follows the link may log in, so that it was made is told like any other leave. Nobody has it yet.
        deeds.note(request, new Deeds.Entry("person.invite", name, role.word()));
        return Views.ok(Views.object()
                .put("name", name)
                .put("role", role.word())
                .put("disabled", false)
                .put("invitation", link(token)));
    }

    /** A link by which somebody who is there chooses another password. Until they do, the one they have is good. */
    private Answer reset(Request request) {
        int ws = request.principal().workspace();
        People.Person person = found(ws, request.parameter("name"));
        if (person.fromOutside()) {
            throw RunActs.refused("this person logs in with the identity provider and has no password here");
        }
        deeds.note(request, new Deeds.Entry("person.reset", person.name(), ""));
        return Views.ok(Views.object()
                .put("name", person.name())
                .put("role", person.role().word())
                .put("disabled", person.disabled())
                .put("invitation", link(people.invitations().makeReset(ws, person))));
    }

    /** Whole where it was said where browsers find this server; else whoever shows it knows how they were reached. */
    private String link(String token) {
        return people.home() + "/setup?token=" + token;
    }

    private Answer endSessions(Request request) {
        int ws = request.principal().workspace();
        People.Person person = found(ws, request.parameter("name"));
        deeds.note(request, new Deeds.Entry("session.end", person.name(), "all of them"));
        people.endSessions(ws, person.name());
        return Views.ok(Views.object().put("name", person.name()).put("ended", true));
    }

    /** Those of whoever asks; a token has none. */
    private Answer sessions(Request request) {
        String name = People.nameOf(request.principal());
        int ws = request.principal().workspace();
        ObjectNode out = list(name == null ? List.of() : people.sessions(ws, name));
        People.Person person = name == null ? null : people.find(ws, name);
        return Views.ok(out.put("password", person != null && !person.fromOutside()));
    }

    private Answer sessionsOf(Request request) {
        int ws = request.principal().workspace();
        return Views.ok(
                list(people.sessions(ws, found(ws, request.parameter("name")).name())));
    }

    private static ObjectNode list(List<Sessions.Session> sessions) {
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        for (Sessions.Session one : sessions) {
            items.addObject()
                    .put("session_id", one.id())
                    .put("begun_at", Views.time(one.begunAt()))
                    .put("until", Views.time(one.until()))
                    .put("address", one.address());
        }
        return out.putNull("next");
    }

    private Answer endSession(Request request) {
        String name = People.nameOf(request.principal());
        String id = request.parameter("session_id");
        if (name == null || !people.endSession(request.principal().workspace(), name, id)) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "You have no such session. Nothing was changed.",
                    "Yours are listed at GET /v1/sessions.");
        }
        deeds.note(request, new Deeds.Entry("session.end", name, id));
        return Views.ok(Views.object().put("session_id", id).put("ended", true));
    }

    private People.Person found(int ws, String parameter) {
        People.Person person = people.find(ws, Names.checked("person", parameter));
        if (person == null) {
            throw unknown();
        }
        return person;
    }

    static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is no such person in this workspace. Nothing was changed.",
                "They are listed at GET /v1/people.");
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

    /** With a key, whoever asks again is told the same, though there is nobody of this name any more. */
    private Answer remove(Request request) {
        int ws = request.principal().workspace();
        String name = Names.checked("person", request.parameter("name"));
        People.Person person = people.find(ws, name);
        Deeds.Deed deed = new Deeds.Deed("person.remove", name);
        Deeds.Done done = person == null
                ? deeds.once(request, deed, new Edit.Wake(List.of()), _ -> null)
                : people.administrators()
                        .safely(
                                people.removing(ws, person, request.principal().tokenId()),
                                edit -> deeds.once(
                                        request, deed, edit, placed -> now(placed) == null ? null : removed(name)));
        if (done == null && person == null) {
            throw unknown();
        }
        if (done == null) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "Somebody changed this person in between. They were not removed.",
                    "Look, and ask again.");
        }
        if (!done.replayed()) {
            people.endSessions(ws, name);
        }
        return done.answer();
    }

    private static ObjectNode removed(String name) {
        return Views.object().put("name", name).put("removed", true);
    }
}
