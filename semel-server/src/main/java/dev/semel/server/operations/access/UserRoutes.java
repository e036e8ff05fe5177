package dev.semel.server.operations.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.LoginSessionStore;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.access.UserRole;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.setting.WorkspaceSettingUpdater;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.store.StoreWriteCommand;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/users` and `/v1/sessions`. Only the user can set a password. */
public final class UserRoutes {
    private static final String ONE = "/v1/users/{name}";
    private static final int MAX_GROUPS = 20;

    private final UserAccountStore accounts;
    private final IdempotentInboundRequestExecutor actions;
    private final WorkspaceSettingUpdater settings;
    private final InvitationRoutes links;

    public UserRoutes(SemelRuntime semel, UserAccountStore users, IdempotentInboundRequestExecutor actions) {
        this.accounts = users;
        this.actions = actions;
        this.settings = new WorkspaceSettingUpdater(actions);
        this.links = new InvitationRoutes(semel, users, actions);
    }

    public void addTo(ApiRouter router) {
        router.get("/v1/users", TokenScope.ADMIN, this::list)
                .get(ONE, TokenScope.ADMIN, this::get)
                .put(ONE, TokenScope.ADMIN, this::put)
                .delete(ONE, TokenScope.ADMIN, this::remove)
                .get(ONE + "/sessions", TokenScope.ADMIN, this::sessionsOf)
                .delete(ONE + "/sessions", TokenScope.ADMIN, this::endSessions)
                .get("/v1/sessions", TokenScope.READ, this::sessions)
                .delete("/v1/sessions/{session_id}", TokenScope.READ, this::endSession);
        links.addTo(router);
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        return RunJsonRenderer.pageResponse(
                accounts.list(request.principal().workspace(), paging.afterText(), paging.limit()),
                paging.limit(),
                UserRoutes::view,
                user -> PagingParameters.encode(user.name()));
    }

    private static ObjectNode view(UserAccountStore.User user) {
        ObjectNode out = RunJsonRenderer.newObject()
                .put("name", user.name())
                .put("role", user.role().word())
                .put("disabled", user.disabled())
                .put("login_method", user.external() ? "provider" : "password")
                .put("version", user.version())
                .put("changed_at", RunJsonRenderer.formatTime(user.changedAt()));
        user.groups().forEach(out.putArray("groups")::add);
        return out;
    }

    private ServerHttpResponse get(ServerHttpRequest request) {
        UserAccountStore.User user = requireUser(request.principal().workspace(), request.parameter("name"));
        return WorkspaceSettingUpdater.withEtag(RunJsonRenderer.ok(view(user)), user.version());
    }

    /** Changes an existing user, or creates an invitation link for a new one. */
    private ServerHttpResponse put(ServerHttpRequest request) {
        String name = UserAccountStore.requireValidName(request.parameter("name"));
        UserAccountStore.UserChange wanted =
                parseChange(InboundJsonRequestBody.parse(request, Set.of("role", "disabled", "groups")));
        Integer seen = expectedVersion(request);
        // One action for both: a repeated invitation returns the invitation even after the user accepted it.
        var actionRequest = new ActionRequest("user.put", name, wanted.toString(), String.valueOf(seen));
        return WorkspaceSettingUpdater.retryUnlessVersioned(
                seen, () -> put(request, actionRequest, new UserUpdate(name, wanted, seen)));
    }

    private record UserUpdate(
            String name,
            UserAccountStore.UserChange change,
            @Nullable Integer seen) {}

    private ServerHttpResponse put(ServerHttpRequest request, ActionRequest actionRequest, UserUpdate wanted) {
        int ws = request.principal().workspace();
        StoreWriteCommand.SaveSetting change = accounts.prepareChange(
                ws, wanted.name(), wanted.change(), request.principal().tokenId());
        if (change == null) {
            return invite(request, actionRequest, wanted);
        }
        Integer seen = wanted.seen();
        if (seen != null && seen == 0) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A user with this name already exists. Nothing was changed and no link was created.",
                    "Change the role of this user, or create a password link.");
        }
        StoreWriteCommand.SaveSetting over = new StoreWriteCommand.SaveSetting(
                change.name(), change.body(), seen == null ? change.expectedVersion() : seen, change.actor());
        ActionResult done = ApiErrors.orThrow(
                accounts.lastAdministratorGuard()
                        .applyUnlessLast(
                                over,
                                edit -> settings.once(
                                        request,
                                        actionRequest,
                                        edit,
                                        row -> changedJson(UserAccountStore.toUser(row)))),
                () -> changeConflict(ws, wanted.name()));
        if (Boolean.TRUE.equals(wanted.change().disabled())) {
            // A disabled user has no valid session. This keeps old sessions from becoming valid when the user is
            // enabled again.
            accounts.endSessions(ws, wanted.name());
        }
        return WorkspaceSettingUpdater.withEtag(
                done.toResponse(), done.body().path("version").asInt(0));
    }

    private static ObjectNode changedJson(UserAccountStore.User now) {
        return RunJsonRenderer.newObject()
                .put("name", now.name())
                .put("role", now.role().word())
                .put("disabled", now.disabled())
                .put("version", now.version())
                .putNull("invitation");
    }

    private ServerHttpResponse invite(ServerHttpRequest request, ActionRequest actionRequest, UserUpdate wanted) {
        if (wanted.change().groups() != null) {
            throw ApiErrors.invalidRequest(
                    "groups can be set only for an existing user; invite the user with a role first");
        }
        UserRole role = wanted.change().role();
        Integer seen = wanted.seen();
        if (seen != null && seen > 0) {
            throw WorkspaceSettingUpdater.versionConflict(0);
        }
        if (role == null || request.header("If-Match") != null) {
            throw unknownUser();
        }
        return links.invite(
                request, actionRequest, WorkspaceSettingNameValidator.requireValid("user", wanted.name()), role);
    }

    /** The version in If-Match; null if the caller sent none or `*`. */
    private static @Nullable Integer expectedVersion(ServerHttpRequest request) {
        return "*".equals(request.header("If-Match")) && request.header("If-None-Match") == null
                ? null
                : WorkspaceSettingUpdater.expectedVersion(request);
    }

    private static UserAccountStore.UserChange parseChange(InboundJsonRequestBody json) {
        String word = json.text("role");
        UserRole role = word.isEmpty() ? null : UserRole.of(word);
        JsonNode disabled = json.value("disabled");
        if (role == null && !word.isEmpty()) {
            throw ApiErrors.invalidRequest("role must be one of viewer, operator, reviewer, admin");
        }
        if (disabled != null && !disabled.isBoolean()) {
            throw ApiErrors.invalidRequest("disabled must be true or false");
        }
        List<String> groups = groups(json.value("groups"));
        if (role == null && disabled == null && groups == null) {
            throw ApiErrors.invalidRequest("the body must contain role, groups or disabled");
        }
        return new UserAccountStore.UserChange(role, disabled == null ? null : disabled.asBoolean(), groups);
    }

    private ServerHttpResponse endSessions(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        UserAccountStore.User user = requireUser(ws, request.parameter("name"));
        actions.recordAudit(request, new AuditNote("session.end", user.name(), "all sessions"));
        accounts.endSessions(ws, user.name());
        return RunJsonRenderer.ok(
                RunJsonRenderer.newObject().put("name", user.name()).put("ended", true));
    }

    /** Lists the sessions of the caller; a token has none. */
    private ServerHttpResponse sessions(ServerHttpRequest request) {
        String name = UserAccountStore.userNameOf(request.principal());
        int ws = request.principal().workspace();
        ObjectNode out = list(name == null ? List.of() : accounts.sessions(ws, name));
        UserAccountStore.User user = name == null ? null : accounts.find(ws, name);
        return RunJsonRenderer.ok(out.put("password", user != null && !user.external()));
    }

    private ServerHttpResponse sessionsOf(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        return RunJsonRenderer.ok(list(
                accounts.sessions(ws, requireUser(ws, request.parameter("name")).name())));
    }

    private static ObjectNode list(List<LoginSessionStore.Session> sessions) {
        return RunJsonRenderer.pageJson(
                sessions,
                one -> RunJsonRenderer.newObject()
                        .put("session_id", one.id())
                        .put("created_at", RunJsonRenderer.formatTime(one.startedAt()))
                        .put("until", RunJsonRenderer.formatTime(one.until()))
                        .put("address", one.address()),
                null);
    }

    private ServerHttpResponse endSession(ServerHttpRequest request) {
        String name = UserAccountStore.userNameOf(request.principal());
        String id = request.parameter("session_id");
        if (name == null || !accounts.endSession(request.principal().workspace(), name, id)) {
            throw ApiErrors.notFound(
                    "You have no session with this id. Nothing was changed.", "GET /v1/sessions lists your sessions.");
        }
        actions.recordAudit(request, new AuditNote("session.end", name, id));
        return RunJsonRenderer.ok(
                RunJsonRenderer.newObject().put("session_id", id).put("ended", true));
    }

    private UserAccountStore.User requireUser(int ws, String parameter) {
        return ApiErrors.orThrow(
                accounts.find(ws, UserAccountStore.requireValidName(parameter)), UserRoutes::unknownUser);
    }

    static SemelException unknownUser() {
        return ApiErrors.notFound(
                "No user with this name exists in this workspace. Nothing was changed.",
                "GET /v1/users lists the users.");
    }

    /** Null if the body has no groups. */
    private static @Nullable List<String> groups(@Nullable JsonNode json) {
        if (json == null) {
            return null;
        }
        List<String> groups =
                json.valueStream().map(one -> one.asString("")).distinct().toList();
        if (!json.isArray()
                || groups.size() > MAX_GROUPS
                || !groups.stream().allMatch(WorkspaceSettingNameValidator::isValid)) {
            throw ApiErrors.invalidRequest(
                    "groups must be a list of up to " + MAX_GROUPS + " names, e.g. [\"warehouse\"]");
        }
        return groups;
    }

    /** With a key, a repeat returns the first response although the user no longer exists. */
    private ServerHttpResponse remove(ServerHttpRequest request) {
        String name = UserAccountStore.requireValidName(request.parameter("name"));
        Integer seen = expectedVersion(request);
        var actionRequest = new ActionRequest("user.remove", name, String.valueOf(seen));
        return WorkspaceSettingUpdater.retryUnlessVersioned(seen, () -> removeOnce(request, actionRequest, name, seen));
    }

    private ServerHttpResponse removeOnce(
            ServerHttpRequest request, ActionRequest actionRequest, String name, @Nullable Integer seen) {
        int ws = request.principal().workspace();
        String actor = request.principal().tokenId();
        UserAccountStore.User user = accounts.find(ws, name);
        ActionResult done = ApiErrors.orThrow(
                user == null
                        ? actions.runOnce(request, actionRequest, new StoreWriteCommand.WakeRuns(List.of()), _ -> null)
                        : accounts.lastAdministratorGuard()
                                .applyUnlessLast(
                                        accounts.prepareRemove(ws, name, seen == null ? user.version() : seen, actor),
                                        edit -> settings.once(request, actionRequest, edit, _ -> removedJson(name))),
                () -> changeConflict(ws, name));
        if (!done.replayed()) {
            accounts.endSessions(ws, name);
            links.revokeFor(ws, name, actor);
        }
        return done.toResponse();
    }

    /** The error for a change that was not made: the user is gone or has another version. */
    private SemelException changeConflict(int ws, String name) {
        UserAccountStore.User now = accounts.find(ws, name);
        return now == null ? unknownUser() : WorkspaceSettingUpdater.versionConflict(now.version());
    }

    private static ObjectNode removedJson(String name) {
        return RunJsonRenderer.newObject().put("name", name).put("removed", true);
    }
}
