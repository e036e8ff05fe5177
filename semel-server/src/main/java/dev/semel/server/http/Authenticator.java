package dev.semel.server.http;

import org.jspecify.annotations.Nullable;

/** Turns a bearer token into a principal. */
@FunctionalInterface
public interface Authenticator {
    /**
     * @param token 1 to 512 visible ASCII characters; never log it
     * @return the principal, or null when the token is not known, has expired or was revoked
     */
    @Nullable
    Principal authenticate(String token);
}
