package dev.semel.server.operations.access;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.access.UserInvitationStore;
import dev.semel.server.access.UserRole;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.StoreWriteCommand.SettingResult;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Serves the links with which users set up their login or reset their password. One per user name. */
record InvitationRoutes(SemelRuntime semel, UserAccountStore users, IdempotentInboundRequestExecutor actions) {
    private static final String OF = "/v1/users/{name}";

    void addTo(ApiRouter router) {
        router.get("/v1/invitations", TokenScope.ADMIN, this::list)
                .post(OF + "/reset", TokenScope.ADMIN, this::reset)
                .delete(OF + "/invitation", TokenScope.ADMIN, this::revoke);
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int ws = request.principal().workspace();
        long now = users.invitations().now();
        return RunJsonRenderer.pageResponse(
                users.invitations().list(ws, paging.afterText(), paging.limit()),
                paging.limit(),
                link -> view(link, isOpen(ws, link, now)),
                link -> PagingParameters.encode(link.name()));
    }

    private static ObjectNode view(UserInvitationStore.InvitationSummary link, boolean open) {
        return RunJsonRenderer.newObject()
                .put("name", link.name())
                .put("invitation_id", link.id())
                .put("kind", link.isPasswordReset() ? "reset" : "invite")
                .put("role", link.role().word())
                .put("invited_by", link.madeBy())
                .put("invited_at", RunJsonRenderer.formatTime(link.madeAt()))
                .put("until", RunJsonRenderer.formatTime(link.until()))
                .put("open", open);
    }

    /** Whether the link still works: it is not expired, and its user has not changed since it was created. */
    private boolean isOpen(int ws, UserInvitationStore.InvitationSummary link, long now) {
        UserAccountStore.User user = users.find(ws, link.name());
        int version = user == null ? 0 : user.version();
        return link.until() >= now && version == link.userVersion();
    }

    /** Creates an invitation link. A repeat with the same key gets the response without the secret link. */
    ServerHttpResponse invite(ServerHttpRequest request, ActionRequest action, String name, UserRole role) {
        UserInvitationStore.Draft draft = users.invitations()
                .draft(
                        request.principal().workspace(),
                        role,
                        name,
                        request.principal().tokenId());
        ObjectNode view = RunJsonRenderer.newObject()
                .put("name", name)
                .put("role", role.word())
                .put("disabled", false);
        // The link grants access, so its creation is audited like any other grant.
        var entry = new AuditNote("user.invite", name, role.word());
        return createLink(request, action, new LinkCreation(entry, draft, view));
    }

    /** Creates a password reset link for an existing user. The old password works until the user sets a new one. */
    private ServerHttpResponse reset(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        UserAccountStore.User account = ApiErrors.orThrow(
                users.find(ws, UserAccountStore.requireValidName(request.parameter("name"))), UserRoutes::unknownUser);
        if (account.external()) {
            throw ApiErrors.invalidRequest("this user logs in with the identity provider and has no password in Semel");
        }
        UserInvitationStore.Draft draft =
                users.invitations().draftReset(ws, account, request.principal().tokenId());
        ObjectNode view = RunJsonRenderer.newObject()
                .put("name", account.name())
                .put("role", account.role().word())
                .put("disabled", account.disabled());
        return createLink(
                request,
                new ActionRequest("user.reset", account.name()),
                new LinkCreation(new AuditNote("user.reset", account.name(), ""), draft, view));
    }

    private record LinkCreation(AuditNote entry, UserInvitationStore.Draft draft, ObjectNode view) {}

    private ServerHttpResponse createLink(ServerHttpRequest request, ActionRequest action, LinkCreation creation) {
        UserInvitationStore.Draft draft = creation.draft();
        ActionResult done = actions.runOnce(
                request,
                action,
                actions.withAudit(
                        request, creation.entry(), draft.put(), placed -> placed instanceof SettingResult.Saved),
                placed -> placed instanceof SettingResult.Saved
                        ? creation.view()
                                .deepCopy()
                                .put("invitation_id", draft.id())
                                .put("until", RunJsonRenderer.formatTime(draft.until()))
                                .putNull("invitation")
                        : null);
        if (done == null) {
            throw new IllegalStateException("the store rejected an unconditional replacement of a link");
        }
        if (!done.replayed() && done.body() instanceof ObjectNode out) {
            // Only the first response has the secret link; the stored response for repeats does not.
            out.put("invitation", users.publicUrl() + "/setup?token=" + draft.token());
        }
        return done.toResponse();
    }

    private ServerHttpResponse revoke(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        String name = UserAccountStore.requireValidName(request.parameter("name"));
        UserInvitationStore.InvitationSummary link = users.invitations().of(ws, name);
        int version = link == null ? 0 : link.version();
        var entry = new AuditNote("user.uninvite", name, link == null ? "" : link.id());
        return ApiErrors.orNotFound(
                        actions.runOnce(
                                request,
                                new ActionRequest("user.uninvite", name),
                                actions.withAudit(
                                        request,
                                        entry,
                                        users.invitations()
                                                .prepareRevoke(
                                                        ws,
                                                        name,
                                                        version,
                                                        request.principal().tokenId()),
                                        placed -> isEndOf(version, placed)),
                                placed -> isEndOf(version, placed)
                                        ? RunJsonRenderer.newObject()
                                                .put("name", name)
                                                .put("revoked", true)
                                        : null),
                        "This user name has no open link: none was created, or it was used, revoked or replaced."
                                + " Nothing was changed.",
                        "List the open links with GET /v1/invitations.")
                .toResponse();
    }

    /** Whether this request removed the link. An earlier removal has another version number. */
    private static boolean isEndOf(int version, @Nullable SettingResult placed) {
        return version > 0
                && placed instanceof SettingResult.Saved(var row)
                && row.removed()
                && row.version() == version + 1;
    }

    /** Revokes the open link of a deleted user. */
    void revokeFor(int ws, String name, String actor) {
        UserInvitationStore.InvitationSummary link = users.invitations().of(ws, name);
        if (link != null) {
            semel.change(users.invitations().prepareRevoke(ws, name, link.version(), actor));
        }
    }
}
