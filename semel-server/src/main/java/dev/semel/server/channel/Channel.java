package dev.semel.server.channel;

import dev.semel.error.HttpStatus;
import dev.semel.error.NotSent;
import dev.semel.error.Rejected;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A configured way to deliver messages, such as SMTP or an HTTP provider. One call sends one message once and never
 * retries.
 *
 * <p>The exception says what is known: {@link NotSent} if the message was certainly not sent and may be sent
 * again, {@link Rejected} or {@link HttpStatus} if the other side rejected it, and {@link IOException} if
 * the outcome is unknown.
 */
public interface Channel {
    Medium medium();

    /**
     * The protections that this channel supports, as workflow files spell them. Publishing rejects a step that states
     * another one.
     */
    Set<String> protections();

    /** How long the provider remembers an effect key, if this channel supports `provider_key`. */
    default Optional<Duration> providerWindow() {
        return Optional.empty();
    }

    /** The names that a step may set under `overrides`. */
    Set<String> overrides();

    DeliveryReceipt send(Step step, Message message) throws IOException, InterruptedException;
}
