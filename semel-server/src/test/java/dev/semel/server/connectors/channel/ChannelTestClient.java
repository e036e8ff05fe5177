package dev.semel.server.connectors.channel;

import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.NotificationChannelSetting;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** What tests of channels send with: a step, a mail, and a line to a server on this machine. */
public final class ChannelTestClient implements AutoCloseable {
    static final Instant NOW = Instant.parse("2026-11-16T08:00:00Z");
    public static final Step STEP = step("effect-key-1");

    final SmtpTimeoutScheduler alarm = new SmtpTimeoutScheduler();
    private final SSLSocketFactory tls;

    public ChannelTestClient() {
        this((SSLSocketFactory) SSLSocketFactory.getDefault());
    }

    ChannelTestClient(SSLSocketFactory tls) {
        this.tls = tls;
    }

    static Step step(String key) {
        return new Step() {
            @Override
            public String id() {
                return "step-1";
            }

            @Override
            public String key() {
                return key;
            }

            @Override
            public int attempt() {
                return 1;
            }
        };
    }

    static NotificationMessage message() {
        return NotificationMessage.of(
                "ann@example.com", new RenderedMessage("Grüße", "Hallo Ann, 5 € für dich.", "<p>Hallo <b>Ann</b></p>"));
    }

    public SmtpNotificationChannel.ConnectionServices line() {
        Map<String, String> secrets = Map.of("SMTP_PASSWORD", "pässword", "WRONG", "no");
        return new SmtpNotificationChannel.ConnectionServices(
                (name, _, _) -> Optional.ofNullable(secrets.get(name)).orElseThrow(),
                AllowedOutboundAddressResolver.UNRESTRICTED,
                tls,
                alarm,
                InstantSource.fixed(NOW));
    }

    SmtpNotificationChannel mail(
            int port,
            NotificationChannelSetting.Security security,
            SmtpNotificationChannelConfig.@Nullable Login login) {
        return mail(
                port,
                security,
                login,
                new SmtpNotificationChannelConfig.Timeouts(
                        Duration.ofSeconds(5), Duration.ofSeconds(20), Duration.ofSeconds(60)));
    }

    SmtpNotificationChannel mail(
            int port,
            NotificationChannelSetting.Security security,
            SmtpNotificationChannelConfig.@Nullable Login login,
            SmtpNotificationChannelConfig.Timeouts limits) {
        EmailAddress from =
                EmailAddress.parseWithName("Acme Größe <hello@acme.example>").orElseThrow();
        EmailAddress replyTo = EmailAddress.parseAddress("help@acme.example").orElseThrow();
        return new SmtpNotificationChannel(
                new SmtpNotificationChannelConfig("localhost", port, security, login, from, replyTo, limits), line());
    }

    SmtpNotificationChannel plain(int port) {
        return mail(port, NotificationChannelSetting.Security.NONE, null);
    }

    @Override
    public void close() throws IOException {
        alarm.close();
    }
}
