package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Locale;

/** Authenticates requests by their Authorization header and checks token scopes, before the body is read. */
public record RequestAuthorizer(BearerTokenAuthenticator authenticator) {
    private static final String SCHEME = "Bearer ";
    private static final int MAX_TOKEN = 512;

    public Principal authenticate(List<String> authorization) {
        Principal principal = authenticator.authenticate(token(authorization));
        if (principal == null) {
            throw unauthenticated("The bearer token is unknown, expired or revoked.");
        }
        return principal;
    }

    /** @throws SemelException if the caller lacks the scope */
    public static void requireScope(Principal principal, TokenScope scope) {
        if (!principal.hasScope(scope)) {
            String name = scope.name().toLowerCase(Locale.ROOT);
            throw new SemelException(
                            ErrorCode.FORBIDDEN,
                            "Token " + principal.tokenId() + " lacks the scope " + name
                                    + ". Nothing was read or written.",
                            "Use a token that has this scope, or request one from an administrator.")
                    .with("scope", name);
        }
    }

    private static String token(List<String> lines) {
        if (lines.isEmpty()) {
            throw unauthenticated("There is no Authorization header.");
        }
        if (lines.size() > 1) {
            throw unauthenticated("There is more than one Authorization header.");
        }
        String line = lines.getFirst();
        if (!line.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw unauthenticated("The Authorization header must have the form: Bearer <token>.");
        }
        String token = line.substring(SCHEME.length());
        if (token.isEmpty() || token.length() > MAX_TOKEN || !visible(token)) {
            throw unauthenticated("The bearer token must have 1 to " + MAX_TOKEN + " visible ASCII characters.");
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

    private static SemelException unauthenticated(String what) {
        return new SemelException(
                ErrorCode.UNAUTHENTICATED,
                what + " Nothing was read or written.",
                "Send one header Authorization: Bearer <token>. Create a token with: semel token create.");
    }
}
