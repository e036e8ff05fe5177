package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Locale;

/** Decides who may pass, from the header lines alone. Nothing of the body has been read yet. */
final class Credentials {
    private static final String SCHEME = "Bearer ";
    private static final int MAX_TOKEN = 512;

    private final Authenticator authenticator;

    Credentials(Authenticator authenticator) {
        this.authenticator = authenticator;
    }

    Principal check(List<String> authorization) {
        Principal principal = authenticator.authenticate(token(authorization));
        if (principal == null) {
            throw refused("The bearer token is not known.");
        }
        return principal;
    }

    static void allow(Principal principal, Scope scope) {
        if (!principal.may(scope)) {
            String name = scope.name().toLowerCase(Locale.ROOT);
            throw new SemelException(
                            ErrorCode.FORBIDDEN,
                            "Token " + principal.tokenId() + " lacks the scope " + name
                                    + ". Nothing was read or written.",
                            "Use a token that has this scope, or ask an administrator for one.")
                    .with("scope", name);
        }
    }

    private static String token(List<String> lines) {
        if (lines.isEmpty()) {
            throw refused("There is no Authorization header.");
        }
        if (lines.size() > 1) {
            throw refused("There is more than one Authorization header.");
        }
        String line = lines.getFirst();
        if (!line.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw refused("The Authorization header is not of the form: Bearer <token>.");
        }
        String token = line.substring(SCHEME.length());
        if (token.isEmpty() || token.length() > MAX_TOKEN || !visible(token)) {
            throw refused("The bearer token is not 1 to " + MAX_TOKEN + " visible ASCII characters.");
        }
        return token;
    }

    private static boolean visible(String token) {
        for (int i = 0; i < token.length(); i++) {
            if (token.charAt(i) <= ' ' || token.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }

    private static SemelException refused(String what) {
        return new SemelException(
                ErrorCode.UNAUTHENTICATED,
                what + " Nothing was read or written.",
                "Send one header Authorization: Bearer <token>; semel token create makes one.");
    }
}
