package dev.semel.server.channel;

import dev.semel.server.settings.ChannelSetting;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The mail server that a channel hands its mail to.
 *
 * @param security what is asked for is what happens: a server that does not offer it gets no mail
 * @param login null for none
 * @param replyTo null where answers go to the sender
 */
public record MailSettings(
        String host,
        int port,
        ChannelSetting.Security security,
        @Nullable Login login,
        Mailbox from,
        @Nullable Mailbox replyTo,
        Limits limits) {

    /** @param secret name of the secret that is the password */
    public record Login(String user, String secret) {}

    /**
     * @param answer longest silence while an answer is waited for
     * @param total longest time of one conversation, once there is a connection
     */
    public record Limits(Duration connect, Duration answer, Duration total) {
        public static final Limits USUAL =
                new Limits(Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofSeconds(60));

        public Limits {
            if (connect.compareTo(Duration.ofMillis(1)) < 0
                    || answer.compareTo(Duration.ofMillis(1)) < 0
                    || total.compareTo(Duration.ofMillis(1)) < 0
                    || total.compareTo(Duration.ofMinutes(10)) > 0) {
                throw new IllegalArgumentException("a mail takes between 1 ms and 10 minutes");
            }
        }
    }

    public MailSettings {
        if (host.isBlank() || port < 1 || port > 65_535) {
            throw new IllegalArgumentException("a mail server has a host and a port between 1 and 65535");
        }
    }
}
