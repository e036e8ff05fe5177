package dev.semel.server.http;

import org.jspecify.annotations.Nullable;

/** Finds the principal of a bearer token. */
@FunctionalInterface
public interface Authenticator {
    /**
     * @param token 1 to 512 visible ASCII characters; never log it
     * @return the principal, or null when the token is unknown, expired or revoked
     */
    @Nullable
    Principal authenticate(String token);
}
