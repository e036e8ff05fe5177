package dev.semel.server.steps;

import dev.semel.server.language.Failure;
import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Auth;
import dev.semel.server.outbound.Request;
import dev.semel.workflow.Failures;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The outside world as the steps of one workspace reach it. */
public interface Outside {
    /** One that reaches nothing: for files that only reckon. */
    Outside NOWHERE = new Outside() {};

    /** Whether files may run SQL in the store's database. Whoever publishes then reads and writes all of its tables. */
    default boolean allowsSql() {
        return false;
    }

    default Messages messages() {
        throw new IllegalStateException("no message leaves from here");
    }

    default People people() {
        throw new IllegalStateException("nobody is known here");
    }

    default Digests digests() {
        throw new IllegalStateException("nothing is gathered here");
    }

    /** The Java step of that name; null where there is none. */
    default @Nullable JavaStep java(String name) {
        return null;
    }

    /** Sends one request, by {@link dev.semel.server.outbound.Outbound}; the answer has whatever status it has. */
    default Answer send(Request request, Auth auth) throws IOException {
        throw new Failures.NotSent("nothing outside can be reached from here. Nothing was sent.", null);
    }

    /**
     * The value of a secret, asked for at the moment when it is sent.
     *
     * @throws Failure where there is none of that name
     */
    default String secret(String name) {
        throw new Failure("there is no secret " + name);
    }

    /** A text from outside as it may be recorded and shown: without any secret that a receiver sent back. */
    default String redacted(String text) {
        return text;
    }
}
