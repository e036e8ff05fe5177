package dev.semel.server.channel;

import dev.semel.workflow.Failures;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * A way for messages to leave. One call sends one message once and never tries again by itself.
 *
 * <p>How it fails says what is known: {@link Failures.NotSent} where it certainly was not taken and may be sent again,
 * {@link Failures.Refused} and a {@link Failures.Status} where the other side said no, and an {@link IOException} where
 * nobody knows.
 */
public interface Channel {
    Medium medium();

    /** The protections that it can keep, in the words of workflow files; another one does not publish. */
    Set<String> honours();

    /** How long the other side remembers the key of an effect, where it can keep `provider_key`. */
    default Optional<Duration> providerWindow() {
        return Optional.empty();
    }

    /** The names that a step may set in its overrides. */
    Set<String> overrides();

    Delivery send(Step step, Message message) throws IOException, InterruptedException;
}
