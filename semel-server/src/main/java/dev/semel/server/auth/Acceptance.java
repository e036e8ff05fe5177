package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Turns an invitation into a user account. It binds the invitation to the name first: after a crash the same link
 * continues with the same name only.
 */
final class Acceptance {
    private final Semel semel;
    private final People people;

    Acceptance(Semel semel, People people) {
        this.semel = semel;
        this.people = people;
    }

    /** Creates the user or replaces their password; returns the workspace. */
    int accept(String token, String name, String password) {
        if (!People.NAME.matcher(name).matches()) {
            throw People.refused("A name must have 1 to 64 letters, digits, dots, _ and -, and begin with a letter");
        }
        Passwords.check(password);
        Invitations invitations = people.invitations();
        Invitations.Invitation invitation = invitations.find(token);
        if (invitation == null || invitation.first() && !hasNoOtherUsers(invitation, name)) {
            throw Invitations.unknown();
        }
        // Hashing is slow on purpose, so it runs before the last check of the link, which may be revoked meanwhile.
        ObjectNode secret =
                Password.of(password, semel.newSecret(Password.SALT_BYTES)).document();
        if (!invitation.equals(invitations.find(token))) {
            throw Invitations.unknown();
        }
        invitations.give(invitation, name);
        saveUser(invitation, name, secret);
        invitations.done(invitation);
        return invitation.ws();
    }

    private void saveUser(Invitations.Invitation invitation, String name, ObjectNode secret) {
        Rows.Setting known = invitation.over() == 0 ? null : people.row(invitation.ws(), name);
        if (invitation.over() != 0 && (known == null || known.version() != invitation.over())) {
            throw Invitations.unknown();
        }
        ObjectNode document = known == null
                ? JsonNodeFactory.instance
                        .objectNode()
                        .put("role", invitation.role().word())
                : (ObjectNode) Json.parse(known.body());
        document.set("password", secret);
        SettingName place = new SettingName(invitation.ws(), People.PERSON, name);
        if (!(semel.change(new Edit.Put(place, Json.write(document), invitation.over(), People.ACTOR + name))
                instanceof Edit.Placed.Now)) {
            throw People.refused(
                    known == null ? "A user with this name already exists" : "The user changed in the meantime");
        }
    }

    private boolean hasNoOtherUsers(Invitations.Invitation invitation, String name) {
        return people.list(invitation.ws(), "", 2).stream()
                .allMatch(person -> person.name().equals(name));
    }
}
