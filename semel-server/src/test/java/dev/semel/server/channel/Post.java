package dev.semel.server.channel;

import dev.semel.server.settings.ChannelSetting;
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
final class Post implements AutoCloseable {
    static final Instant NOW = Instant.parse("2026-11-16T08:00:00Z");
    static final Step STEP = step("effect-key-1");

    final Alarm alarm = new Alarm();
    private final SSLSocketFactory tls;

    Post() {
        this((SSLSocketFactory) SSLSocketFactory.getDefault());
    }

    Post(SSLSocketFactory tls) {
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

    static Message message() {
        return Message.of(
                "ann@example.com", new Rendered("Grüße", "Hallo Ann, 5 € für dich.", "<p>Hallo <b>Ann</b></p>"));
    }

    Mail.Line line() {
        Map<String, String> secrets = Map.of("SMTP_PASSWORD", "pässword", "WRONG", "no");
        return new Mail.Line(
                name -> Optional.ofNullable(secrets.get(name)).orElseThrow(),
                Reach.EVERYWHERE,
                tls,
                alarm,
                InstantSource.fixed(NOW));
    }

    Mail mail(int port, ChannelSetting.Security security, MailSettings.@Nullable Login login) {
        return mail(
                port,
                security,
                login,
                new MailSettings.Limits(Duration.ofSeconds(5), Duration.ofSeconds(20), Duration.ofSeconds(60)));
    }

    Mail mail(
            int port,
            ChannelSetting.Security security,
            MailSettings.@Nullable Login login,
            MailSettings.Limits limits) {
        Mailbox from = Mailbox.named("Acme Größe <hello@acme.example>").orElseThrow();
        Mailbox replyTo = Mailbox.bare("help@acme.example").orElseThrow();
        return new Mail(new MailSettings("localhost", port, security, login, from, replyTo, limits), line());
    }

    Mail plain(int port) {
        return mail(port, ChannelSetting.Security.NONE, null);
    }

    @Override
    public void close() throws IOException {
        alarm.close();
    }
}
