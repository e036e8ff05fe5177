package dev.semel.server.connectors.channel;

import org.jspecify.annotations.Nullable;

/** Returns secret values by name at the moment of a send, so that a changed secret applies immediately. */
@FunctionalInterface
public interface SecretResolver {
    /**
     * @param host the receiver; null for a part of a URL whose host is not known yet
     * @throws dev.semel.error.SemelException if there is no secret of that name
     * @throws dev.semel.error.RequestRejected if the host may not receive the secret
     */
    String reveal(String name, @Nullable String host, int port);
}
