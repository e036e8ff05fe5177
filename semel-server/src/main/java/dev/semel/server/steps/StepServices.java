package dev.semel.server.steps;

import dev.semel.error.NotSent;
import dev.semel.server.expressions.EvaluationException;
import dev.semel.server.outbound.OutboundResponse;
import dev.semel.server.outbound.RequestAuth;
import dev.semel.server.outbound.OutboundRequest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The services that the steps of one workspace can use: messages, profiles, HTTP, secrets and Java steps. */
public interface StepServices {
    /** No services, for files that only compute. */
    StepServices UNAVAILABLE = new StepServices() {};

    /** Whether files may run SQL in the store's database. Publishers can then read and write all its tables. */
    default boolean allowsSql() {
        return false;
    }

    default MessageGateway messages() {
        throw new IllegalStateException("no message gateway is configured");
    }

    default ProfileDirectory profiles() {
        throw new IllegalStateException("no profile directory is configured");
    }

    default DigestCollector digests() {
        throw new IllegalStateException("no digest collector is configured");
    }

    /** The Java step of that name; null if there is none. */
    default @Nullable JavaStep javaStep(String name) {
        return null;
    }

    /** Sends one request by {@link dev.semel.server.outbound.OutboundHttpClient}; the response can have any status. */
    default OutboundResponse send(OutboundRequest request, RequestAuth auth) throws IOException {
        throw new NotSent("outbound HTTP is not available here. Nothing was sent.", null);
    }

    /**
     * Looks up the value of a secret when it is sent.
     *
     * @throws EvaluationException if there is no secret of that name
     */
    default String secret(String name) {
        throw new EvaluationException("there is no secret " + name);
    }

    /** Removes secrets that a receiver echoed from a text before it is recorded or shown. */
    default String redact(String text) {
        return text;
    }
}
