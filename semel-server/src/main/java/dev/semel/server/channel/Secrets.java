package dev.semel.server.channel;

/** Where credentials come from, at the moment they are needed, so that a change of one counts at once. */
@FunctionalInterface
public interface Secrets {
    /** @throws dev.semel.error.SemelException where there is none of that name */
    String reveal(String name);
}
