package dev.semel.server.connectors.channel;

import dev.semel.server.settings.NotificationChannelSetting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of an SMTP channel: server, security, login, sender and timeouts.
 *
 * @param security required: the channel sends nothing if the server does not offer it
 * @param login null for no authentication
 * @param replyTo null if replies go to the sender
 */
public record SmtpNotificationChannelConfig(
        String host,
        int port,
        NotificationChannelSetting.Security security,
        @Nullable Login login,
        EmailAddress from,
        @Nullable EmailAddress replyTo,
        Timeouts timeouts) {

    /** @param secret name of the secret that holds the password */
    public record Login(String user, String secret) {}

    /**
     * @param response longest wait for one reply of the server
     * @param total longest duration of one session after the connection is open
     */
    public record Timeouts(Duration connect, Duration response, Duration total) {
        public static final Timeouts DEFAULT =
                new Timeouts(Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofSeconds(60));

        public Timeouts {
            if (connect.compareTo(Duration.ofMillis(1)) < 0
                    || response.compareTo(Duration.ofMillis(1)) < 0
                    || total.compareTo(Duration.ofMillis(1)) < 0
                    || total.compareTo(Duration.ofMinutes(10)) > 0) {
                throw new IllegalArgumentException("an SMTP timeout must be between 1 ms and 10 minutes");
            }
        }
    }

    public SmtpNotificationChannelConfig {
        if (host.isBlank() || port < 1 || port > 65_535) {
            throw new IllegalArgumentException("a mail server needs a host and a port between 1 and 65535");
        }
    }
}
