package dev.semel.server.channel;

/** Returns secret values by name at the moment of a send, so that a changed secret applies immediately. */
@FunctionalInterface
public interface SecretResolver {
    /** @throws dev.semel.error.SemelException if there is no secret of that name */
    String reveal(String name);
}
