package dev.semel.server.files.steps;

import dev.semel.error.RequestNotSent;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestAuth;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.connectors.outbound.OutboundResponse;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.steps.JavaStep;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

public interface YamlStepDependencies {
    /** No services, for files that only compute. */
    YamlStepDependencies UNAVAILABLE = new YamlStepDependencies() {};

    /** Whether files may run SQL in the store's database. Publishers can then read and write all its tables. */
    default boolean allowsSql() {
        return false;
    }

    default StepNotificationSender messages() {
        throw new IllegalStateException("no message gateway is configured");
    }

    default NotificationEventPublisher events() {
        throw new IllegalStateException("no event publisher is configured");
    }

    default RecipientProfileDirectory profiles() {
        throw new IllegalStateException("no profile directory is configured");
    }

    default NotificationDigestCollector digests() {
        throw new IllegalStateException("no digest collector is configured");
    }

    /** The Java step of that name; null if there is none. */
    default @Nullable JavaStep javaStep(String name) {
        return null;
    }

    /** Sends one request by {@link dev.semel.server.connectors.outbound.OutboundHttpClient}; the response can have any status. */
    default OutboundResponse send(OutboundRequest request, OutboundRequestAuth auth) throws IOException {
        throw new RequestNotSent("outbound HTTP is not available here. Nothing was sent.", null);
    }

    /**
     * Looks up the value of a secret when it is sent.
     *
     * @param receiver where it is sent
     * @throws ExpressionEvaluationException if there is no secret of that name
     * @throws dev.semel.error.RequestRejected if the receiver may not have it
     */
    default String secret(String name, OutboundRequestUrl receiver) {
        throw new ExpressionEvaluationException("there is no secret " + name);
    }

    /** Removes secrets that a receiver echoed from a text before it is recorded or shown. */
    default String redact(String text) {
        return text;
    }
}
