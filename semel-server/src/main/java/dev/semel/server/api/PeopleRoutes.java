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
    private static final int MOST_ATTEMPTS = 5;

    private final People people;
    private final Deeds deeds;
    private final SettingDeeds settings;
    private final InvitationRoutes links;

    PeopleRoutes(Semel semel, People people, Deeds deeds) {
        this.people = people;
        this.deeds = deeds;
        this.settings = new SettingDeeds(deeds);
        this.links = new InvitationRoutes(semel, people, deeds);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/people", Scope.ADMIN, this::list)
                .add("GET", ONE, Scope.ADMIN, this::get)
                .add(Api.changing("PUT", ONE, Scope.ADMIN, this::put))
                .add(Api.changing("DELETE", ONE, Scope.ADMIN, this::remove))
                .add("GET", ONE + "/sessions", Scope.ADMIN, this::sessionsOf)
                .add(Api.changing("DELETE", ONE + "/sessions", Scope.ADMIN, this::endSessions))
                .add("GET", "/v1/sessions", Scope.READ, this::sessions)
                .add(Api.changing("DELETE", "/v1/sessions/{session_id}", Scope.READ, this::endSession));
        links.addTo(router);
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
                .put("version", person.version())
                .put("changed_at", Views.time(person.changedAt()));
        ArrayNode groups = out.putArray("groups");
        person.groups().forEach(groups::add);
        return out;
    }

    private Answer get(Request request) {
        People.Person person = found(request.principal().workspace(), request.parameter("name"));
        return SettingDeeds.tagged(Views.ok(view(person)), person.version());
    }

    /** Somebody who is there is changed; for somebody who is not, a link is made by which they set up their log-in. */
    private Answer put(Request request) {
        String name = People.checked(request.parameter("name"));
        People.Change wanted = wanted(Said.in(request, Set.of("role", "disabled", "groups")));
        Integer seen = seen(request);
        // One kind of deed for both: whoever sends an invitation again when it was accepted is told of the invitation.
        var deed = new Deeds.Deed("person.put", name, wanted.toString(), String.valueOf(seen));
        for (int attempt = 1; ; attempt++) {
            try {
                return put(request, deed, new Wanted(name, wanted, seen));
            } catch (SemelException e) {
                // Somebody changed this person between our look and our change; the caller did not say what they saw.
                if (e.code() != ErrorCode.PRECONDITION_FAILED || seen != null || attempt == MOST_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private record Wanted(
            String name, People.Change change, @Nullable Integer seen) {}

    private Answer put(Request request, Deeds.Deed deed, Wanted wanted) {
        int ws = request.principal().workspace();
        Edit.Put change = people.changing(
                ws, wanted.name(), wanted.change(), request.principal().tokenId());
        if (change == null) {
            return invited(request, deed, wanted);
        }
        Integer seen = wanted.seen();
        if (seen != null && seen == 0) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "There is a person of this name. Nothing was changed, and no link was made.",
                    "Give them another role, or make a link for another password.");
        }
        Edit.Put over =
                new Edit.Put(change.name(), change.body(), seen == null ? change.expected() : seen, change.actor());
        Deeds.Done done = people.administrators()
                .safely(over, edit -> settings.once(request, deed, edit, row -> changed(People.person(row))));
        if (done == null) {
            throw moved(ws, wanted.name());
        }
        if (Boolean.TRUE.equals(wanted.change().disabled())) {
            // They are out already: who is disabled has no session that counts. This is for when they are let in again.
            people.endSessions(ws, wanted.name());
        }
        return SettingDeeds.tagged(done.answer(), done.body().path("version").asInt(0));
    }

    private static ObjectNode changed(People.Person now) {
        return Views.object()
                .put("name", now.name())
                .put("role", now.role().word())
                .put("disabled", now.disabled())
                .put("version", now.version())
                .putNull("invitation");
    }

    private Answer invited(Request request, Deeds.Deed deed, Wanted wanted) {
        if (wanted.change().groups() != null) {
            throw RunActs.refused("groups are given to somebody who is there; invite them first, by their role alone");
        }
        Role role = wanted.change().role();
        Integer seen = wanted.seen();
        if (seen != null && seen > 0) {
            throw SettingDeeds.moved(0);
        }
        if (role == null || request.header("If-Match") != null) {
            throw unknown();
        }
        return links.invite(request, deed, Names.checked("person", wanted.name()), role);
    }

    /** The version that the caller has seen; null where they did not say, or any will do as long as there is one. */
    private static @Nullable Integer seen(Request request) {
        return "*".equals(request.header("If-Match")) && request.header("If-None-Match") == null
                ? null
                : SettingDeeds.expected(request);
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
        People.Person person = people.find(ws, People.checked(parameter));
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
        String name = People.checked(request.parameter("name"));
        Integer seen = seen(request);
        for (int attempt = 1; ; attempt++) {
            try {
                return removed(request, new Deeds.Deed("person.remove", name, String.valueOf(seen)), name, seen);
            } catch (SemelException e) {
                if (e.code() != ErrorCode.PRECONDITION_FAILED || seen != null || attempt == MOST_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private Answer removed(Request request, Deeds.Deed deed, String name, @Nullable Integer seen) {
        int ws = request.principal().workspace();
        String actor = request.principal().tokenId();
        People.Person person = people.find(ws, name);
        Deeds.Done done = person == null
                ? deeds.once(request, deed, new Edit.Wake(List.of()), _ -> null)
                : people.administrators()
                        .safely(
                                people.removing(ws, name, seen == null ? person.version() : seen, actor),
                                edit -> settings.once(request, deed, edit, _ -> removed(name)));
        if (done == null) {
            throw moved(ws, name);
        }
        if (!done.replayed()) {
            people.endSessions(ws, name);
            links.forget(ws, name, actor);
        }
        return done.answer();
    }

    /** Nothing was done: they are gone, or somebody changed them in between. */
    private SemelException moved(int ws, String name) {
        People.Person now = people.find(ws, name);
        return now == null ? unknown() : SettingDeeds.moved(now.version());
    }

    private static ObjectNode removed(String name) {
        return Views.object().put("name", name).put("removed", true);
    }
}
