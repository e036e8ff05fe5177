package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.Invitations;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.access.Role;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand.SettingResult;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates, lists and revokes the links with which users set up their login or reset their password. One per user name.
 */
final class InvitationRoutes {
    private static final String OF = "/v1/people/{name}";

    private final SemelRuntime semel;
    private final UserAccounts users;
    private final IdempotentActions actions;

    InvitationRoutes(SemelRuntime semel, UserAccounts users, IdempotentActions actions) {
        this.semel = semel;
        this.users = users;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/invitations", TokenScope.ADMIN, this::list)
                .add(ApiRoutes.mutationRoute("POST", OF + "/reset", TokenScope.ADMIN, this::reset))
                .add(ApiRoutes.mutationRoute("DELETE", OF + "/invitation", TokenScope.ADMIN, this::revoke));
    }

    private HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int ws = request.principal().workspace();
        long now = users.invitations().now();
        return JsonViews.pageResponse(
                users.invitations().list(ws, SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                link -> view(link, isOpen(ws, link, now)),
                link -> SettingActions.nameCursor(link.name()));
    }

    private static ObjectNode view(Invitations.InvitationSummary link, boolean open) {
        return JsonViews.newObject()
                .put("name", link.name())
                .put("invitation_id", link.id())
                .put("kind", link.isPasswordReset() ? "reset" : "invite")
                .put("role", link.role().word())
                .put("invited_by", link.madeBy())
                .put("invited_at", JsonViews.formatTime(link.madeAt()))
                .put("until", JsonViews.formatTime(link.until()))
                .put("open", open);
    }

    /** Whether the link still works: it is not expired, and its user has not changed since it was created. */
    private boolean isOpen(int ws, Invitations.InvitationSummary link, long now) {
        UserAccounts.User person = users.find(ws, link.name());
        int version = person == null ? 0 : person.version();
        return link.until() >= now && version == link.userVersion();
    }

    /** Creates an invitation link. A repeat with the same key gets the response without the secret link. */
    HttpResponse invite(HttpRequest request, IdempotentActions.ActionRequest action, String name, Role role) {
        Invitations.Draft draft = users.invitations()
                .draft(
                        request.principal().workspace(),
                        role,
                        name,
                        request.principal().tokenId());
        ObjectNode view =
                JsonViews.newObject().put("name", name).put("role", role.word()).put("disabled", false);
        // The link grants access, so its creation is audited like any other grant.
        var entry = new IdempotentActions.AuditNote("person.invite", name, role.word());
        return createLink(request, action, new LinkCreation(entry, draft, view));
    }

    /** Creates a password reset link for an existing user. The old password works until the user sets a new one. */
    private HttpResponse reset(HttpRequest request) {
        int ws = request.principal().workspace();
        UserAccounts.User person = users.find(ws, UserAccounts.requireValidName(request.parameter("name")));
        if (person == null) {
            throw UserRoutes.unknownUser();
        }
        if (person.external()) {
            throw RunActionRoutes.invalidRequest("this user logs in with the identity provider and has no password in Semel");
        }
        Invitations.Draft draft =
                users.invitations().draftReset(ws, person, request.principal().tokenId());
        ObjectNode view = JsonViews.newObject()
                .put("name", person.name())
                .put("role", person.role().word())
                .put("disabled", person.disabled());
        return createLink(
                request,
                new IdempotentActions.ActionRequest("person.reset", person.name()),
                new LinkCreation(new IdempotentActions.AuditNote("person.reset", person.name(), ""), draft, view));
    }

    private record LinkCreation(IdempotentActions.AuditNote entry, Invitations.Draft draft, ObjectNode view) {}

    private HttpResponse createLink(HttpRequest request, IdempotentActions.ActionRequest action, LinkCreation creation) {
        Invitations.Draft draft = creation.draft();
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                action,
                actions.withAudit(request, creation.entry(), draft.put(), placed -> placed instanceof SettingResult.Saved),
                placed -> placed instanceof SettingResult.Saved
                        ? creation.view()
                                .deepCopy()
                                .put("invitation_id", draft.id())
                                .put("until", JsonViews.formatTime(draft.until()))
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

    private HttpResponse revoke(HttpRequest request) {
        int ws = request.principal().workspace();
        String name = UserAccounts.requireValidName(request.parameter("name"));
        Invitations.InvitationSummary link = users.invitations().of(ws, name);
        int version = link == null ? 0 : link.version();
        var entry = new IdempotentActions.AuditNote("person.uninvite", name, link == null ? "" : link.id());
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("person.uninvite", name),
                actions.withAudit(
                        request,
                        entry,
                        users.invitations()
                                .prepareRevoke(
                                        ws, name, version, request.principal().tokenId()),
                        placed -> isEndOf(version, placed)),
                placed -> isEndOf(version, placed)
                        ? JsonViews.newObject().put("name", name).put("taken_back", true)
                        : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This user name has no open link: none was created, or it was used, revoked or replaced."
                            + " Nothing was changed.",
                    "List the open links with GET /v1/invitations.");
        }
        return done.toResponse();
    }

    /** Whether this request removed the link. An earlier removal has another version number. */
    private static boolean isEndOf(int version, @Nullable SettingResult placed) {
        return version > 0 && placed instanceof SettingResult.Saved(var row) && row.removed() && row.version() == version + 1;
    }

    /** Revokes the open link of a deleted user. */
    void revokeFor(int ws, String name, String actor) {
        Invitations.InvitationSummary link = users.invitations().of(ws, name);
        if (link != null) {
            semel.change(users.invitations().prepareRevoke(ws, name, link.version(), actor));
        }
    }
}
