package dev.semel.server.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.Principal;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import tools.jackson.databind.node.ObjectNode;

/** Changes the password of a user who knows the current one. */
record UserPasswordChanger(SemelRuntime semel, LoginThrottle attempts) {

    static void requireValidLength(String password) {
        if (password.length() < PasswordHash.SHORTEST || password.length() > PasswordHash.LONGEST) {
            throw UserAccountStore.rejection(
                    "A password needs " + PasswordHash.SHORTEST + " to " + PasswordHash.LONGEST + " characters");
        }
    }

    /** If the new password equals the stored one nothing changes, so that a retry is safe. */
    StoreWriteCommand.SaveSetting prepareChange(
            Principal principal, DatabaseRows.SettingRow settingRow, UserAccountStore.PasswordChangeRequest choice) {
        ObjectNode document = (ObjectNode) StrictJsonCodec.parse(settingRow.body());
        if (!document.has("password")) {
            throw UserAccountStore.rejection(
                    "This user logs in with the identity provider and has no password in Semel");
        }
        requireValidLength(choice.replacement());
        if (choice.old().equals(choice.replacement())) {
            throw UserAccountStore.rejection("The new password equals the old one");
        }
        var guess = new LoginThrottle.LoginAttempt(
                principal.workspaceName() + "/" + settingRow.name(), principal.tokenId());
        attempts.admit(guess);
        PasswordHash passwordHash = PasswordHash.read(document.path("password"));
        boolean fits = passwordHash.matches(choice.old(), principal.tokenId());
        boolean done = !fits && passwordHash.matches(choice.replacement(), principal.tokenId());
        if (!fits && !done || document.path(UserAccountStore.DISABLED).asBoolean(false)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The old password is wrong. Nothing was changed.",
                    "Send your current password. If you forgot it, ask an administrator for a reset link.");
        }
        attempts.recordSuccess(guess);
        if (fits) {
            document.set(
                    "password",
                    PasswordHash.of(choice.replacement(), semel.newSecret(PasswordHash.SALT_BYTES), principal.tokenId())
                            .toJson());
        }
        WorkspaceSettingName settingName =
                new WorkspaceSettingName(settingRow.ws(), UserAccountStore.USER, settingRow.name());
        return new StoreWriteCommand.SaveSetting(
                settingName, StrictJsonCodec.write(document), settingRow.version(), principal.tokenId());
    }
}
