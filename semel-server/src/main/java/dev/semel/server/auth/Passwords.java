package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Principal;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import tools.jackson.databind.node.ObjectNode;

/** Changes the password of a user who knows the current one. */
final class Passwords {
    private final Semel semel;
    private final Attempts attempts;

    Passwords(Semel semel, Attempts attempts) {
        this.semel = semel;
        this.attempts = attempts;
    }

    static void check(String password) {
        if (password.length() < Password.SHORTEST || password.length() > Password.LONGEST) {
            throw People.refused("A password needs " + Password.SHORTEST + " to " + Password.LONGEST + " characters");
        }
    }

    /**
     * Prepares the edit that stores the new password. If it equals the stored one nothing changes, so that a retry is
     * safe.
     */
    Edit.Put changing(Principal asks, Rows.Setting person, People.Choice choice) {
        ObjectNode document = (ObjectNode) Json.parse(person.body());
        if (!document.has("password")) {
            throw People.refused("This user logs in with the identity provider and has no password in Semel");
        }
        check(choice.fresh());
        if (choice.old().equals(choice.fresh())) {
            throw People.refused("The new password equals the old one");
        }
        var guess = new Attempts.Try(asks.workspaceName() + "/" + person.name(), asks.tokenId());
        attempts.begin(guess);
        Password known = Password.read(document.path("password"));
        boolean fits = known.fits(choice.old());
        boolean done = !fits && known.fits(choice.fresh());
        if (!fits && !done || document.path(People.DISABLED).asBoolean(false)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The old password is wrong. Nothing was changed.",
                    "Send your current password. If you forgot it, ask an administrator for a reset link.");
        }
        attempts.succeeded(guess);
        if (fits) {
            document.set(
                    "password",
                    Password.of(choice.fresh(), semel.newSecret(Password.SALT_BYTES))
                            .document());
        }
        SettingName place = new SettingName(person.ws(), People.PERSON, person.name());
        return new Edit.Put(place, Json.write(document), person.version(), asks.tokenId());
    }
}
