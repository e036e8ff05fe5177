package dev.semel.server.outbound;

import dev.semel.workflow.Failures;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** How a request shows who sends it. Made when it is sent, from secrets, and kept nowhere. */
public sealed interface Auth {
    Auth NONE = new None();

    record None() implements Auth {}

    /** A header that is always the same. */
    record Fixed(Header header) implements Auth {}

    static Auth bearer(String token) {
        if (token.indexOf(' ') >= 0) {
            throw new Failures.NotSent("the token of auth holds a space. Nothing was sent.", null);
        }
        return new Fixed(Header.secret("Authorization", "Bearer " + nonEmpty("token", token)));
    }

    static Auth basic(String user, String password) {
        if (user.indexOf(':') >= 0) {
            throw new Failures.NotSent("a user with a colon cannot be sent with basic auth. Nothing was sent.", null);
        }
        byte[] both = (nonEmpty("user", user) + ":" + password).getBytes(StandardCharsets.UTF_8);
        return new Fixed(
                Header.secret("Authorization", "Basic " + Base64.getEncoder().encodeToString(both)));
    }

    static Auth header(String name, String value) {
        return new Fixed(Header.secret(name, nonEmpty("header", value)));
    }

    private static String nonEmpty(String what, String value) {
        if (value.isEmpty()) {
            throw new Failures.NotSent("the " + what + " of auth is empty. Nothing was sent.", null);
        }
        return value;
    }

    /**
     * OAuth 2: a token is got with the client's own credentials and used until shortly before it ends.
     *
     * @param scope empty for none
     * @param audience empty for none
     * @param inBody whether id and secret go as form fields instead of basic auth, as some servers want it
     */
    record ClientCredentials(Target tokenUrl, String id, String secret, String scope, String audience, boolean inBody)
            implements Auth {
        @Override
        public String toString() {
            return "client credentials for " + tokenUrl.authority();
        }
    }
}
