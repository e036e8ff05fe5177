package dev.semel.server.access;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Binds the invitation to the name first: after a crash the same link continues with the same name only. */
record InvitationAcceptance(SemelRuntime semel, UserAccountStore users) {

    /** Creates the user or replaces their password; returns the workspace. */
    int accept(String token, String name, String password) {
        if (!UserAccountStore.NAME.matcher(name).matches()) {
            throw UserAccountStore.rejection(
                    "A name must have 1 to 64 letters, digits, dots, _ and -, and begin with a letter");
        }
        UserPasswordChanger.requireValidLength(password);
        UserInvitationStore invitations = users.invitations();
        UserInvitationStore.Invitation invitation = invitations.find(token);
        if (invitation == null || invitation.firstUserOnly() && !hasNoOtherUsers(invitation, name)) {
            throw UserInvitationStore.unknownLink();
        }
        // Hashing is slow on purpose, so it runs before the last check of the link, which may be revoked meanwhile.
        String caller = "invitation of workspace " + invitation.ws();
        ObjectNode secret = PasswordHash.of(password, semel.newSecret(PasswordHash.SALT_BYTES), caller)
                .toJson();
        if (!invitation.equals(invitations.find(token))) {
            throw UserInvitationStore.unknownLink();
        }
        invitations.bindToName(invitation, name);
        saveUser(invitation, name, secret);
        invitations.close(invitation);
        return invitation.ws();
    }

    private void saveUser(UserInvitationStore.Invitation invitation, String name, ObjectNode secret) {
        DatabaseRows.SettingRow settingRow = invitation.userVersion() == 0 ? null : users.row(invitation.ws(), name);
        if (invitation.userVersion() != 0 && (settingRow == null || settingRow.version() != invitation.userVersion())) {
            throw UserInvitationStore.unknownLink();
        }
        ObjectNode document = settingRow == null
                ? JsonNodeFactory.instance
                        .objectNode()
                        .put("role", invitation.role().word())
                : (ObjectNode) StrictJsonCodec.parse(settingRow.body());
        document.set("password", secret);
        WorkspaceSettingName settingName = new WorkspaceSettingName(invitation.ws(), UserAccountStore.USER, name);
        if (!(semel.change(new StoreWriteCommand.SaveSetting(
                        settingName,
                        StrictJsonCodec.write(document),
                        invitation.userVersion(),
                        UserAccountStore.ACTOR + name))
                instanceof StoreWriteCommand.SettingResult.Saved)) {
            throw UserAccountStore.rejection(
                    settingRow == null
                            ? "A user with this name already exists"
                            : "Another request changed this user at the same time");
        }
    }

    private boolean hasNoOtherUsers(UserInvitationStore.Invitation invitation, String name) {
        return users.list(invitation.ws(), "", 2).stream()
                .allMatch(user -> user.name().equals(name));
    }
}
