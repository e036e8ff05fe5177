package dev.semel.server.connectors.channel;

import dev.semel.error.HttpStatusException;
import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A configured way to deliver messages, such as SMTP or an HTTP provider. One call sends one message once and never
 * retries.
 *
 * <p>The exception says what is known: {@link RequestNotSent} if the message was certainly not sent and may be sent
 * again, {@link RequestRejected} or {@link HttpStatusException} if the other side rejected it, and {@link IOException} if
 * the outcome is unknown.
 */
public interface NotificationChannel {
    /** As workflow files spell them. Publishing rejects a step that states a protection that is not among them. */
    Set<String> protections();

    /** How long the provider remembers an effect key, if this channel supports `provider_key`. */
    default Optional<Duration> providerWindow() {
        return Optional.empty();
    }

    /** The names that a step may set under `overrides`. */
    Set<String> overrides();

    NotificationDeliveryReceipt send(Step step, NotificationMessage message) throws IOException, InterruptedException;
}
