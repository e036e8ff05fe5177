package dev.semel.server.http;

import org.jspecify.annotations.Nullable;

@FunctionalInterface
public interface BearerTokenAuthenticator {
    /**
     * @param token 1 to 512 visible ASCII characters; never log it
     * @return the principal, or null when the token is unknown, expired or revoked
     */
    @Nullable
    Principal authenticate(String token);
}
