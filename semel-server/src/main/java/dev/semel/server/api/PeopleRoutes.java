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

/**
 * Serves `/v1/people` and `/v1/sessions`: users of the dashboard and their sessions. Only the user can set a password.
 */
final class PeopleRoutes {
    private static final String ONE = "/v1/people/{name}";
    private static final int MAX_GROUPS = 20;
    private static final int MAX_ATTEMPTS = 5;

    private final People people;
    private final Deeds actions;
    private final SettingDeeds settings;
    private final InvitationRoutes links;

    PeopleRoutes(Semel semel, People people, Deeds actions) {
        this.people = people;
        this.actions = actions;
        this.settings = new SettingDeeds(actions);
        this.links = new InvitationRoutes(semel, people, actions);
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
        People.Person person = requireUser(request.principal().workspace(), request.parameter("name"));
        return SettingDeeds.tagged(Views.ok(view(person)), person.version());
    }

    /** Changes an existing user, or creates an invitation link for a new one. */
    private Answer put(Request request) {
        String name = People.checked(request.parameter("name"));
        People.Change wanted = parseChange(Said.in(request, Set.of("role", "disabled", "groups")));
        Integer seen = expectedVersion(request);
        // One action for both: a repeated invitation returns the invitation even after the user accepted it.
        var actionRequest = new Deeds.Deed("person.put", name, wanted.toString(), String.valueOf(seen));
        for (int attempt = 1; ; attempt++) {
            try {
                return put(request, actionRequest, new Wanted(name, wanted, seen));
            } catch (SemelException e) {
                // Another request changed this user meanwhile. The caller sent no version, so the server retries.
                if (e.code() != ErrorCode.PRECONDITION_FAILED || seen != null || attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private record Wanted(
            String name, People.Change change, @Nullable Integer seen) {}

    private Answer put(Request request, Deeds.Deed actionRequest, Wanted wanted) {
        int ws = request.principal().workspace();
        Edit.Put change = people.changing(
                ws, wanted.name(), wanted.change(), request.principal().tokenId());
        if (change == null) {
            return invite(request, actionRequest, wanted);
        }
        Integer seen = wanted.seen();
        if (seen != null && seen == 0) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A user with this name exists. Nothing was changed and no link was created.",
                    "Change the role of this user, or create a password link.");
        }
        Edit.Put over =
                new Edit.Put(change.name(), change.body(), seen == null ? change.expected() : seen, change.actor());
        Deeds.Done done = people.administrators()
                .safely(over, edit -> settings.once(request, actionRequest, edit, row ->
                        changedJson(People.person(row))));
        if (done == null) {
            throw changeConflict(ws, wanted.name());
        }
        if (Boolean.TRUE.equals(wanted.change().disabled())) {
            // A disabled user has no valid session. This keeps old sessions from becoming valid when the user is
            // enabled again.
            people.endSessions(ws, wanted.name());
        }
        return SettingDeeds.tagged(done.answer(), done.body().path("version").asInt(0));
    }

    private static ObjectNode changedJson(People.Person now) {
        return Views.object()
                .put("name", now.name())
                .put("role", now.role().word())
                .put("disabled", now.disabled())
                .put("version", now.version())
                .putNull("invitation");
    }

    private Answer invite(Request request, Deeds.Deed actionRequest, Wanted wanted) {
        if (wanted.change().groups() != null) {
            throw RunActs.refused("groups can be set only for an existing user; invite the user with a role first");
        }
        Role role = wanted.change().role();
        Integer seen = wanted.seen();
        if (seen != null && seen > 0) {
            throw SettingDeeds.moved(0);
        }
        if (role == null || request.header("If-Match") != null) {
            throw unknown();
        }
        return links.invite(request, actionRequest, Names.checked("user", wanted.name()), role);
    }

    /** The version in If-Match; null if the caller sent none or `*`. */
    private static @Nullable Integer expectedVersion(Request request) {
        return "*".equals(request.header("If-Match")) && request.header("If-None-Match") == null
                ? null
                : SettingDeeds.expected(request);
    }

    private static People.Change parseChange(Said json) {
        String word = json.text("role");
        Role role = word.isEmpty() ? null : Role.of(word);
        JsonNode disabled = json.value("disabled");
        if (role == null && !word.isEmpty()) {
            throw RunActs.refused("role must be one of viewer, operator, reviewer, admin");
        }
        if (disabled != null && !disabled.isBoolean()) {
            throw RunActs.refused("disabled must be true or false");
        }
        List<String> groups = groups(json.value("groups"));
        if (role == null && disabled == null && groups == null) {
            throw RunActs.refused("the body must contain role, groups or disabled");
        }
        return new People.Change(role, disabled == null ? null : disabled.asBoolean(), groups);
    }

    private Answer endSessions(Request request) {
        int ws = request.principal().workspace();
        People.Person person = requireUser(ws, request.parameter("name"));
        actions.note(request, new Deeds.Entry("session.end", person.name(), "all of them"));
        people.endSessions(ws, person.name());
        return Views.ok(Views.object().put("name", person.name()).put("ended", true));
    }

    /** Lists the sessions of the caller; a token has none. */
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
                list(people.sessions(ws, requireUser(ws, request.parameter("name")).name())));
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
                    "You have no session with this id. Nothing was changed.",
                    "GET /v1/sessions lists your sessions.");
        }
        actions.note(request, new Deeds.Entry("session.end", name, id));
        return Views.ok(Views.object().put("session_id", id).put("ended", true));
    }

    private People.Person requireUser(int ws, String parameter) {
        People.Person person = people.find(ws, People.checked(parameter));
        if (person == null) {
            throw unknown();
        }
        return person;
    }

    static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No user with this name exists in this workspace. Nothing was changed.",
                "GET /v1/people lists the users.");
    }

    /** Null if the body has no groups. */
    private static @Nullable List<String> groups(@Nullable JsonNode json) {
        if (json == null) {
            return null;
        }
        List<String> groups =
                json.valueStream().map(one -> one.asString("")).distinct().toList();
        if (!json.isArray() || groups.size() > MAX_GROUPS || !groups.stream().allMatch(Names::fits)) {
            throw RunActs.refused("groups must be a list of up to " + MAX_GROUPS + " names, e.g. [\"warehouse\"]");
        }
        return groups;
    }

    /** With a key, a repeat returns the first response although the user no longer exists. */
    private Answer remove(Request request) {
        String name = People.checked(request.parameter("name"));
        Integer seen = expectedVersion(request);
        for (int attempt = 1; ; attempt++) {
            try {
                return removeOnce(request, new Deeds.Deed("person.remove", name, String.valueOf(seen)), name, seen);
            } catch (SemelException e) {
                if (e.code() != ErrorCode.PRECONDITION_FAILED || seen != null || attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private Answer removeOnce(Request request, Deeds.Deed actionRequest, String name, @Nullable Integer seen) {
        int ws = request.principal().workspace();
        String actor = request.principal().tokenId();
        People.Person person = people.find(ws, name);
        Deeds.Done done = person == null
                ? actions.once(request, actionRequest, new Edit.Wake(List.of()), _ -> null)
                : people.administrators()
                        .safely(
                                people.removing(ws, name, seen == null ? person.version() : seen, actor),
                                edit -> settings.once(request, actionRequest, edit, _ -> removedJson(name)));
        if (done == null) {
            throw changeConflict(ws, name);
        }
        if (!done.replayed()) {
            people.endSessions(ws, name);
            links.forget(ws, name, actor);
        }
        return done.answer();
    }

    /** The error for a change that was not made: the user is gone or has another version. */
    private SemelException changeConflict(int ws, String name) {
        People.Person now = people.find(ws, name);
        return now == null ? unknown() : SettingDeeds.moved(now.version());
    }

    private static ObjectNode removedJson(String name) {
        return Views.object().put("name", name).put("removed", true);
    }
}
