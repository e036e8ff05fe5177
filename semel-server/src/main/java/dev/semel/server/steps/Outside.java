package dev.semel.server.steps;

import dev.semel.server.language.Failure;
import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Auth;
import dev.semel.server.outbound.Request;
import dev.semel.workflow.Failures;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The services that the steps of one workspace can use: messages, profiles, HTTP, secrets and Java steps. */
public interface Outside {
    /** No services, for files that only compute. */
    Outside NOWHERE = new Outside() {};

    /** Whether files may run SQL in the store's database. Publishers can then read and write all its tables. */
    default boolean allowsSql() {
        return false;
    }

    default Messages messages() {
        throw new IllegalStateException("no message gateway is configured");
    }

    default People people() {
        throw new IllegalStateException("no profile directory is configured");
    }

    default Digests digests() {
        throw new IllegalStateException("no digest collector is configured");
    }

    /** The Java step of that name; null if there is none. */
    default @Nullable JavaStep java(String name) {
        return null;
    }

    /** Sends one request by {@link dev.semel.server.outbound.Outbound}; the response can have any status. */
    default Answer send(Request request, Auth auth) throws IOException {
        throw new Failures.NotSent("outbound HTTP is not available here. Nothing was sent.", null);
    }

    /**
     * Looks up the value of a secret when it is sent.
     *
     * @throws Failure if there is no secret of that name
     */
    default String secret(String name) {
        throw new Failure("there is no secret " + name);
    }

    /** Removes secrets that a receiver echoed from a text before it is recorded or shown. */
    default String redacted(String text) {
        return text;
    }
}
