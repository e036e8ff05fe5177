package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The authentication of an outbound request. Created from secrets at send time and never stored. */
public sealed interface OutboundRequestAuth {
    OutboundRequestAuth NONE = new None();

    record None() implements OutboundRequestAuth {}

    record Fixed(OutboundRequestHeader header) implements OutboundRequestAuth {}

    static OutboundRequestAuth bearer(String token) {
        if (token.indexOf(' ') >= 0) {
            throw new RequestNotSent("the token in auth contains a space. Nothing was sent.", null);
        }
        return new Fixed(OutboundRequestHeader.secret("Authorization", "Bearer " + nonEmpty("token", token)));
    }

    static OutboundRequestAuth basic(String user, String password) {
        if (user.indexOf(':') >= 0) {
            throw new RequestNotSent("basic auth does not support a user name with a colon. Nothing was sent.", null);
        }
        byte[] both = (nonEmpty("user", user) + ":" + password).getBytes(StandardCharsets.UTF_8);
        return new Fixed(OutboundRequestHeader.secret(
                "Authorization", "Basic " + Base64.getEncoder().encodeToString(both)));
    }

    static OutboundRequestAuth header(String name, String value) {
        return new Fixed(OutboundRequestHeader.secret(name, nonEmpty("header", value)));
    }

    private static String nonEmpty(String what, String value) {
        if (value.isEmpty()) {
            throw new RequestNotSent("the " + what + " in auth is empty. Nothing was sent.", null);
        }
        return value;
    }

    /**
     * OAuth 2 client credentials: the client fetches a token and uses it until shortly before it expires.
     *
     * @param scope empty for none
     * @param audience empty for none
     * @param inBody whether id and secret are form fields instead of basic auth, as some servers require
     */
    record ClientCredentials(
            OutboundRequestUrl tokenUrl, String id, String secret, String scope, String audience, boolean inBody)
            implements OutboundRequestAuth {
        @Override
        public String toString() {
            return "client credentials for " + tokenUrl.authority();
        }
    }
}
