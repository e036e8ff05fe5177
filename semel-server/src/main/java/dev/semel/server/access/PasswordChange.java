package dev.semel.server.access;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.Principal;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.SettingName;
import tools.jackson.databind.node.ObjectNode;

/** Changes the password of a user who knows the current one. */
final class PasswordChange {
    private final SemelRuntime semel;
    private final LoginThrottle attempts;

    PasswordChange(SemelRuntime semel, LoginThrottle attempts) {
        this.semel = semel;
        this.attempts = attempts;
    }

    static void requireValidLength(String password) {
        if (password.length() < PasswordHash.SHORTEST || password.length() > PasswordHash.LONGEST) {
            throw UserAccounts.rejection("A password needs " + PasswordHash.SHORTEST + " to " + PasswordHash.LONGEST + " characters");
        }
    }

    /**
     * Prepares the edit that stores the new password. If it equals the stored one nothing changes, so that a retry is
     * safe.
     */
    StoreCommand.SaveSetting prepareChange(Principal asks, StoredRows.SettingRow person, UserAccounts.PasswordChangeRequest choice) {
        ObjectNode document = (ObjectNode) StrictJson.parse(person.body());
        if (!document.has("password")) {
            throw UserAccounts.rejection("This user logs in with the identity provider and has no password in Semel");
        }
        requireValidLength(choice.replacement());
        if (choice.old().equals(choice.replacement())) {
            throw UserAccounts.rejection("The new password equals the old one");
        }
        var guess = new LoginThrottle.LoginAttempt(asks.workspaceName() + "/" + person.name(), asks.tokenId());
        attempts.admit(guess);
        PasswordHash known = PasswordHash.read(document.path("password"));
        boolean fits = known.matches(choice.old());
        boolean done = !fits && known.matches(choice.replacement());
        if (!fits && !done || document.path(UserAccounts.DISABLED).asBoolean(false)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The old password is wrong. Nothing was changed.",
                    "Send your current password. If you forgot it, ask an administrator for a reset link.");
        }
        attempts.recordSuccess(guess);
        if (fits) {
            document.set(
                    "password",
                    PasswordHash.of(choice.replacement(), semel.newSecret(PasswordHash.SALT_BYTES))
                            .toJson());
        }
        SettingName place = new SettingName(person.ws(), UserAccounts.USER, person.name());
        return new StoreCommand.SaveSetting(place, StrictJson.write(document), person.version(), asks.tokenId());
    }
}
