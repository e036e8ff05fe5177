package dev.semel.server.access;

import dev.semel.runtime.SemelRuntime;
import dev.semel.json.StrictJson;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.SettingName;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Turns an invitation into a user account. It binds the invitation to the name first: after a crash the same link
 * continues with the same name only.
 */
final class InvitationAcceptance {
    private final SemelRuntime semel;
    private final UserAccounts people;

    InvitationAcceptance(SemelRuntime semel, UserAccounts people) {
        this.semel = semel;
        this.people = people;
    }

    /** Creates the user or replaces their password; returns the workspace. */
    int accept(String token, String name, String password) {
        if (!UserAccounts.NAME.matcher(name).matches()) {
            throw UserAccounts.rejection("A name must have 1 to 64 letters, digits, dots, _ and -, and begin with a letter");
        }
        PasswordChange.requireValidLength(password);
        Invitations invitations = people.invitations();
        Invitations.Invitation invitation = invitations.find(token);
        if (invitation == null || invitation.firstUserOnly() && !hasNoOtherUsers(invitation, name)) {
            throw Invitations.unknownLink();
        }
        // Hashing is slow on purpose, so it runs before the last check of the link, which may be revoked meanwhile.
        ObjectNode secret =
                PasswordHash.of(password, semel.newSecret(PasswordHash.SALT_BYTES)).toJson();
        if (!invitation.equals(invitations.find(token))) {
            throw Invitations.unknownLink();
        }
        invitations.bindToName(invitation, name);
        saveUser(invitation, name, secret);
        invitations.close(invitation);
        return invitation.ws();
    }

    private void saveUser(Invitations.Invitation invitation, String name, ObjectNode secret) {
        StoredRows.SettingRow known = invitation.userVersion() == 0 ? null : people.row(invitation.ws(), name);
        if (invitation.userVersion() != 0 && (known == null || known.version() != invitation.userVersion())) {
            throw Invitations.unknownLink();
        }
        ObjectNode document = known == null
                ? JsonNodeFactory.instance
                        .objectNode()
                        .put("role", invitation.role().word())
                : (ObjectNode) StrictJson.parse(known.body());
        document.set("password", secret);
        SettingName place = new SettingName(invitation.ws(), UserAccounts.USER, name);
        if (!(semel.change(new StoreCommand.SaveSetting(place, StrictJson.write(document), invitation.userVersion(), UserAccounts.ACTOR + name))
                instanceof StoreCommand.SettingResult.Saved)) {
            throw UserAccounts.rejection(
                    known == null ? "A user with this name already exists" : "The user changed in the meantime");
        }
    }

    private boolean hasNoOtherUsers(Invitations.Invitation invitation, String name) {
        return people.list(invitation.ws(), "", 2).stream()
                .allMatch(person -> person.name().equals(name));
    }
}
