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

/** Links by which people set up their log-in or choose another password: made, listed, taken back. One for each name. */
final class InvitationRoutes {
    private static final String OF = "/v1/people/{name}";

    private final Semel semel;
    private final People people;
    private final Deeds deeds;

    InvitationRoutes(Semel semel, People people, Deeds deeds) {
        this.semel = semel;
        this.people = people;
        this.deeds = deeds;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/invitations", Scope.ADMIN, this::list)
                .add(Api.changing("POST", OF + "/reset", Scope.ADMIN, this::reset))
                .add(Api.changing("DELETE", OF + "/invitation", Scope.ADMIN, this::takeBack));
    }

    private Answer list(Request request) {
        Paging paging = Paging.of(request);
        int ws = request.principal().workspace();
        long now = people.invitations().now();
        return Views.page(
                people.invitations().list(ws, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                link -> view(link, opens(ws, link, now)),
                link -> SettingDeeds.cursor(link.name()));
    }

    private static ObjectNode view(Invitations.Open link, boolean opens) {
        return Views.object()
                .put("name", link.name())
                .put("invitation_id", link.id())
                .put("kind", link.reset() ? "reset" : "invite")
                .put("role", link.role().word())
                .put("invited_by", link.madeBy())
                .put("invited_at", Views.time(link.madeAt()))
                .put("until", Views.time(link.until()))
                .put("open", opens);
    }

    /** Whether whoever has it could still use it: in time, and for the very person, or the free name, it was made for. */
    private boolean opens(int ws, Invitations.Open link, long now) {
        People.Person person = people.find(ws, link.name());
        int version = person == null ? 0 : person.version();
        return link.until() >= now && version == link.over();
    }

    /** Whoever asks again with the same key is told of the link that was made; the link itself is told once. */
    Answer invite(Request request, Deeds.Deed deed, String name, Role role) {
        Invitations.Draft draft = people.invitations()
                .draft(
                        request.principal().workspace(),
                        role,
                        name,
                        request.principal().tokenId());
        ObjectNode view =
                Views.object().put("name", name).put("role", role.word()).put("disabled", false);
        // Who follows the link may log in, so that it was made is told like any other leave.
        return made(request, deed, new Making(new Deeds.Entry("person.invite", name, role.word()), draft, view));
    }

    /** A link by which somebody who is there chooses another password. Until they do, the one they have is good. */
    private Answer reset(Request request) {
        int ws = request.principal().workspace();
        People.Person person = people.find(ws, People.checked(request.parameter("name")));
        if (person == null) {
            throw PeopleRoutes.unknown();
        }
        if (person.fromOutside()) {
            throw RunActs.refused("this person logs in with the identity provider and has no password here");
        }
        Invitations.Draft draft =
                people.invitations().draftReset(ws, person, request.principal().tokenId());
        ObjectNode view = Views.object()
                .put("name", person.name())
                .put("role", person.role().word())
                .put("disabled", person.disabled());
        return made(
                request,
                new Deeds.Deed("person.reset", person.name()),
                new Making(new Deeds.Entry("person.reset", person.name(), ""), draft, view));
    }

    private record Making(Deeds.Entry entry, Invitations.Draft draft, ObjectNode view) {}

    private Answer made(Request request, Deeds.Deed deed, Making making) {
        Invitations.Draft draft = making.draft();
        Deeds.Done done = deeds.once(
                request,
                deed,
                deeds.noting(request, making.entry(), draft.put(), placed -> placed instanceof Placed.Now),
                placed -> placed instanceof Placed.Now
                        ? making.view()
                                .deepCopy()
                                .put("invitation_id", draft.id())
                                .put("until", Views.time(draft.until()))
                                .putNull("invitation")
                        : null);
        if (done == null) {
            throw new IllegalStateException("a link that replaces whatever there is was refused");
        }
        if (!done.replayed() && done.body() instanceof ObjectNode out) {
            // Only here and only now: what is kept for those who ask again does not open anything.
            out.put("invitation", people.home() + "/setup?token=" + draft.token());
        }
        return done.answer();
    }

    private Answer takeBack(Request request) {
        int ws = request.principal().workspace();
        String name = People.checked(request.parameter("name"));
        Invitations.Open link = people.invitations().of(ws, name);
        int version = link == null ? 0 : link.version();
        var entry = new Deeds.Entry("person.uninvite", name, link == null ? "" : link.id());
        Deeds.Done done = deeds.once(
                request,
                new Deeds.Deed("person.uninvite", name),
                deeds.noting(
                        request,
                        entry,
                        people.invitations()
                                .takingBack(
                                        ws, name, version, request.principal().tokenId()),
                        placed -> isEndOf(version, placed)),
                placed -> isEndOf(version, placed)
                        ? Views.object().put("name", name).put("taken_back", true)
                        : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no open link for this name: none was made, it was used, or it was taken back or replaced"
                            + " a moment ago. Nothing was changed.",
                    "Those that are open are listed at GET /v1/invitations.");
        }
        return done.answer();
    }

    /** A document that was removed before is told as removed, too; its number says whether it was this one. */
    private static boolean isEndOf(int version, @Nullable Placed placed) {
        return version > 0 && placed instanceof Placed.Now(var row) && row.removed() && row.version() == version + 1;
    }

    /** Somebody was removed: a link that they had opens nothing any more, and is not listed either. */
    void forget(int ws, String name, String actor) {
        Invitations.Open link = people.invitations().of(ws, name);
        if (link != null) {
            semel.change(people.invitations().takingBack(ws, name, link.version(), actor));
        }
    }
}
