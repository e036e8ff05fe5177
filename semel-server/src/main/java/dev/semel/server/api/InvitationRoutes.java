package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.Invitations;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Role;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit.Placed;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates, lists and revokes the links with which users set up their login or reset their password. One per user name.
 */
final class InvitationRoutes {
    private static final String OF = "/v1/people/{name}";

    private final Semel semel;
    private final People users;
    private final Deeds actions;

    InvitationRoutes(Semel semel, People users, Deeds actions) {
        this.semel = semel;
        this.users = users;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/invitations", Scope.ADMIN, this::list)
                .add(Api.changing("POST", OF + "/reset", Scope.ADMIN, this::reset))
                .add(Api.changing("DELETE", OF + "/invitation", Scope.ADMIN, this::revoke));
    }

    private Answer list(Request request) {
        Paging paging = Paging.of(request);
        int ws = request.principal().workspace();
        long now = users.invitations().now();
        return Views.page(
                users.invitations().list(ws, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                link -> view(link, isOpen(ws, link, now)),
                link -> SettingDeeds.cursor(link.name()));
    }

    private static ObjectNode view(Invitations.Open link, boolean open) {
        return Views.object()
                .put("name", link.name())
                .put("invitation_id", link.id())
                .put("kind", link.reset() ? "reset" : "invite")
                .put("role", link.role().word())
                .put("invited_by", link.madeBy())
                .put("invited_at", Views.time(link.madeAt()))
                .put("until", Views.time(link.until()))
                .put("open", open);
    }

    /** Whether the link still works: it is not expired, and its user has not changed since it was created. */
    private boolean isOpen(int ws, Invitations.Open link, long now) {
        People.Person person = users.find(ws, link.name());
        int version = person == null ? 0 : person.version();
        return link.until() >= now && version == link.over();
    }

    /** Creates an invitation link. A repeat with the same key gets the response without the secret link. */
    Answer invite(Request request, Deeds.Deed action, String name, Role role) {
        Invitations.Draft draft = users.invitations()
                .draft(
                        request.principal().workspace(),
                        role,
                        name,
                        request.principal().tokenId());
        ObjectNode view =
                Views.object().put("name", name).put("role", role.word()).put("disabled", false);
        // The link grants access, so its creation is audited like any other grant.
        var entry = new Deeds.Entry("person.invite", name, role.word());
        return createLink(request, action, new LinkCreation(entry, draft, view));
    }

    /** Creates a password reset link for an existing user. The old password works until the user sets a new one. */
    private Answer reset(Request request) {
        int ws = request.principal().workspace();
        People.Person person = users.find(ws, People.checked(request.parameter("name")));
        if (person == null) {
            throw PeopleRoutes.unknown();
        }
        if (person.fromOutside()) {
            throw RunActs.refused("this user logs in with the identity provider and has no password in Semel");
        }
        Invitations.Draft draft =
                users.invitations().draftReset(ws, person, request.principal().tokenId());
        ObjectNode view = Views.object()
                .put("name", person.name())
                .put("role", person.role().word())
                .put("disabled", person.disabled());
        return createLink(
                request,
                new Deeds.Deed("person.reset", person.name()),
                new LinkCreation(new Deeds.Entry("person.reset", person.name(), ""), draft, view));
    }

    private record LinkCreation(Deeds.Entry entry, Invitations.Draft draft, ObjectNode view) {}

    private Answer createLink(Request request, Deeds.Deed action, LinkCreation creation) {
        Invitations.Draft draft = creation.draft();
        Deeds.Done done = actions.once(
                request,
                action,
                actions.noting(request, creation.entry(), draft.put(), placed -> placed instanceof Placed.Now),
                placed -> placed instanceof Placed.Now
                        ? creation.view()
                                .deepCopy()
                                .put("invitation_id", draft.id())
                                .put("until", Views.time(draft.until()))
                                .putNull("invitation")
                        : null);
        if (done == null) {
            throw new IllegalStateException("the store rejected an unconditional replacement of a link");
        }
        if (!done.replayed() && done.body() instanceof ObjectNode out) {
            // Only the first response has the secret link; the stored response for repeats does not.
            out.put("invitation", users.home() + "/setup?token=" + draft.token());
        }
        return done.answer();
    }

    private Answer revoke(Request request) {
        int ws = request.principal().workspace();
        String name = People.checked(request.parameter("name"));
        Invitations.Open link = users.invitations().of(ws, name);
        int version = link == null ? 0 : link.version();
        var entry = new Deeds.Entry("person.uninvite", name, link == null ? "" : link.id());
        Deeds.Done done = actions.once(
                request,
                new Deeds.Deed("person.uninvite", name),
                actions.noting(
                        request,
                        entry,
                        users.invitations()
                                .takingBack(
                                        ws, name, version, request.principal().tokenId()),
                        placed -> isEndOf(version, placed)),
                placed -> isEndOf(version, placed)
                        ? Views.object().put("name", name).put("taken_back", true)
                        : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This user name has no open link: none was created, or it was used, revoked or replaced."
                            + " Nothing was changed.",
                    "List the open links with GET /v1/invitations.");
        }
        return done.answer();
    }

    /** Whether this request removed the link. An earlier removal has another version number. */
    private static boolean isEndOf(int version, @Nullable Placed placed) {
        return version > 0 && placed instanceof Placed.Now(var row) && row.removed() && row.version() == version + 1;
    }

    /** Revokes the open link of a deleted user. */
    void forget(int ws, String name, String actor) {
        Invitations.Open link = users.invitations().of(ws, name);
        if (link != null) {
            semel.change(users.invitations().takingBack(ws, name, link.version(), actor));
        }
    }
}
