package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.access.Role;
import dev.semel.server.access.LoginSessions;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.SettingNames;
import dev.semel.store.StoreCommand;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `/v1/people` and `/v1/sessions`: users of the dashboard and their sessions. Only the user can set a password.
 */
final class UserRoutes {
    private static final String ONE = "/v1/people/{name}";
    private static final int MAX_GROUPS = 20;
    private static final int MAX_ATTEMPTS = 5;

    private final UserAccounts people;
    private final IdempotentActions actions;
    private final SettingActions settings;
    private final InvitationRoutes links;

    UserRoutes(SemelRuntime semel, UserAccounts people, IdempotentActions actions) {
        this.people = people;
        this.actions = actions;
        this.settings = new SettingActions(actions);
        this.links = new InvitationRoutes(semel, people, actions);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/people", TokenScope.ADMIN, this::list)
                .add("GET", ONE, TokenScope.ADMIN, this::get)
                .add(ApiRoutes.mutationRoute("PUT", ONE, TokenScope.ADMIN, this::put))
                .add(ApiRoutes.mutationRoute("DELETE", ONE, TokenScope.ADMIN, this::remove))
                .add("GET", ONE + "/sessions", TokenScope.ADMIN, this::sessionsOf)
                .add(ApiRoutes.mutationRoute("DELETE", ONE + "/sessions", TokenScope.ADMIN, this::endSessions))
                .add("GET", "/v1/sessions", TokenScope.READ, this::sessions)
                .add(ApiRoutes.mutationRoute("DELETE", "/v1/sessions/{session_id}", TokenScope.READ, this::endSession));
        links.addTo(router);
    }

    private HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        return JsonViews.pageResponse(
                people.list(request.principal().workspace(), SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                UserRoutes::view,
                person -> SettingActions.nameCursor(person.name()));
    }

    private static ObjectNode view(UserAccounts.User person) {
        ObjectNode out = JsonViews.newObject()
                .put("name", person.name())
                .put("role", person.role().word())
                .put("disabled", person.disabled())
                .put("logs_in_with", person.external() ? "provider" : "password")
                .put("version", person.version())
                .put("changed_at", JsonViews.formatTime(person.changedAt()));
        ArrayNode groups = out.putArray("groups");
        person.groups().forEach(groups::add);
        return out;
    }

    private HttpResponse get(HttpRequest request) {
        UserAccounts.User person = requireUser(request.principal().workspace(), request.parameter("name"));
        return SettingActions.withEtag(JsonViews.ok(view(person)), person.version());
    }

    /** Changes an existing user, or creates an invitation link for a new one. */
    private HttpResponse put(HttpRequest request) {
        String name = UserAccounts.requireValidName(request.parameter("name"));
        UserAccounts.UserChange wanted = parseChange(JsonBody.parse(request, Set.of("role", "disabled", "groups")));
        Integer seen = expectedVersion(request);
        // One action for both: a repeated invitation returns the invitation even after the user accepted it.
        var actionRequest = new IdempotentActions.ActionRequest("person.put", name, wanted.toString(), String.valueOf(seen));
        for (int attempt = 1; ; attempt++) {
            try {
                return put(request, actionRequest, new UserUpdate(name, wanted, seen));
            } catch (SemelException e) {
                // Another request changed this user meanwhile. The caller sent no version, so the server retries.
                if (e.code() != ErrorCode.PRECONDITION_FAILED || seen != null || attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private record UserUpdate(
            String name, UserAccounts.UserChange change, @Nullable Integer seen) {}

    private HttpResponse put(HttpRequest request, IdempotentActions.ActionRequest actionRequest, UserUpdate wanted) {
        int ws = request.principal().workspace();
        StoreCommand.SaveSetting change = people.prepareChange(
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
        StoreCommand.SaveSetting over =
                new StoreCommand.SaveSetting(change.name(), change.body(), seen == null ? change.expectedVersion() : seen, change.actor());
        IdempotentActions.ActionResult done = people.lastAdministratorGuard()
                .applyUnlessLast(over, edit -> settings.once(request, actionRequest, edit, row ->
                        changedJson(UserAccounts.toUser(row))));
        if (done == null) {
            throw changeConflict(ws, wanted.name());
        }
        if (Boolean.TRUE.equals(wanted.change().disabled())) {
            // A disabled user has no valid session. This keeps old sessions from becoming valid when the user is
            // enabled again.
            people.endSessions(ws, wanted.name());
        }
        return SettingActions.withEtag(done.toResponse(), done.body().path("version").asInt(0));
    }

    private static ObjectNode changedJson(UserAccounts.User now) {
        return JsonViews.newObject()
                .put("name", now.name())
                .put("role", now.role().word())
                .put("disabled", now.disabled())
                .put("version", now.version())
                .putNull("invitation");
    }

    private HttpResponse invite(HttpRequest request, IdempotentActions.ActionRequest actionRequest, UserUpdate wanted) {
        if (wanted.change().groups() != null) {
            throw RunActionRoutes.invalidRequest("groups can be set only for an existing user; invite the user with a role first");
        }
        Role role = wanted.change().role();
        Integer seen = wanted.seen();
        if (seen != null && seen > 0) {
            throw SettingActions.versionConflict(0);
        }
        if (role == null || request.header("If-Match") != null) {
            throw unknownUser();
        }
        return links.invite(request, actionRequest, SettingNames.requireValid("user", wanted.name()), role);
    }

    /** The version in If-Match; null if the caller sent none or `*`. */
    private static @Nullable Integer expectedVersion(HttpRequest request) {
        return "*".equals(request.header("If-Match")) && request.header("If-None-Match") == null
                ? null
                : SettingActions.expectedVersion(request);
    }

    private static UserAccounts.UserChange parseChange(JsonBody json) {
        String word = json.text("role");
        Role role = word.isEmpty() ? null : Role.of(word);
        JsonNode disabled = json.value("disabled");
        if (role == null && !word.isEmpty()) {
            throw RunActionRoutes.invalidRequest("role must be one of viewer, operator, reviewer, admin");
        }
        if (disabled != null && !disabled.isBoolean()) {
            throw RunActionRoutes.invalidRequest("disabled must be true or false");
        }
        List<String> groups = groups(json.value("groups"));
        if (role == null && disabled == null && groups == null) {
            throw RunActionRoutes.invalidRequest("the body must contain role, groups or disabled");
        }
        return new UserAccounts.UserChange(role, disabled == null ? null : disabled.asBoolean(), groups);
    }

    private HttpResponse endSessions(HttpRequest request) {
        int ws = request.principal().workspace();
        UserAccounts.User person = requireUser(ws, request.parameter("name"));
        actions.recordAudit(request, new IdempotentActions.AuditNote("session.end", person.name(), "all of them"));
        people.endSessions(ws, person.name());
        return JsonViews.ok(JsonViews.newObject().put("name", person.name()).put("ended", true));
    }

    /** Lists the sessions of the caller; a token has none. */
    private HttpResponse sessions(HttpRequest request) {
        String name = UserAccounts.userNameOf(request.principal());
        int ws = request.principal().workspace();
        ObjectNode out = list(name == null ? List.of() : people.sessions(ws, name));
        UserAccounts.User person = name == null ? null : people.find(ws, name);
        return JsonViews.ok(out.put("password", person != null && !person.external()));
    }

    private HttpResponse sessionsOf(HttpRequest request) {
        int ws = request.principal().workspace();
        return JsonViews.ok(
                list(people.sessions(ws, requireUser(ws, request.parameter("name")).name())));
    }

    private static ObjectNode list(List<LoginSessions.Session> sessions) {
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        for (LoginSessions.Session one : sessions) {
            items.addObject()
                    .put("session_id", one.id())
                    .put("begun_at", JsonViews.formatTime(one.startedAt()))
                    .put("until", JsonViews.formatTime(one.until()))
                    .put("address", one.address());
        }
        return out.putNull("next");
    }

    private HttpResponse endSession(HttpRequest request) {
        String name = UserAccounts.userNameOf(request.principal());
        String id = request.parameter("session_id");
        if (name == null || !people.endSession(request.principal().workspace(), name, id)) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "You have no session with this id. Nothing was changed.",
                    "GET /v1/sessions lists your sessions.");
        }
        actions.recordAudit(request, new IdempotentActions.AuditNote("session.end", name, id));
        return JsonViews.ok(JsonViews.newObject().put("session_id", id).put("ended", true));
    }

    private UserAccounts.User requireUser(int ws, String parameter) {
        UserAccounts.User person = people.find(ws, UserAccounts.requireValidName(parameter));
        if (person == null) {
            throw unknownUser();
        }
        return person;
    }

    static SemelException unknownUser() {
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
        if (!json.isArray() || groups.size() > MAX_GROUPS || !groups.stream().allMatch(SettingNames::isValid)) {
            throw RunActionRoutes.invalidRequest("groups must be a list of up to " + MAX_GROUPS + " names, e.g. [\"warehouse\"]");
        }
        return groups;
    }

    /** With a key, a repeat returns the first response although the user no longer exists. */
    private HttpResponse remove(HttpRequest request) {
        String name = UserAccounts.requireValidName(request.parameter("name"));
        Integer seen = expectedVersion(request);
        for (int attempt = 1; ; attempt++) {
            try {
                return removeOnce(request, new IdempotentActions.ActionRequest("person.remove", name, String.valueOf(seen)), name, seen);
            } catch (SemelException e) {
                if (e.code() != ErrorCode.PRECONDITION_FAILED || seen != null || attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private HttpResponse removeOnce(HttpRequest request, IdempotentActions.ActionRequest actionRequest, String name, @Nullable Integer seen) {
        int ws = request.principal().workspace();
        String actor = request.principal().tokenId();
        UserAccounts.User person = people.find(ws, name);
        IdempotentActions.ActionResult done = person == null
                ? actions.runOnce(request, actionRequest, new StoreCommand.WakeRuns(List.of()), _ -> null)
                : people.lastAdministratorGuard()
                        .applyUnlessLast(
                                people.prepareRemove(ws, name, seen == null ? person.version() : seen, actor),
                                edit -> settings.once(request, actionRequest, edit, _ -> removedJson(name)));
        if (done == null) {
            throw changeConflict(ws, name);
        }
        if (!done.replayed()) {
            people.endSessions(ws, name);
            links.revokeFor(ws, name, actor);
        }
        return done.toResponse();
    }

    /** The error for a change that was not made: the user is gone or has another version. */
    private SemelException changeConflict(int ws, String name) {
        UserAccounts.User now = people.find(ws, name);
        return now == null ? unknownUser() : SettingActions.versionConflict(now.version());
    }

    private static ObjectNode removedJson(String name) {
        return JsonViews.newObject().put("name", name).put("removed", true);
    }
}
