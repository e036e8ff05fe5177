package dev.semel.server.connectors.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.NotificationChannelSetting;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is encrypted stays encrypted, and what a mail says cannot change where it goes. */
class SmtpSecurityTest {
    private static final SmtpNotificationChannelConfig.Login LOGIN =
            new SmtpNotificationChannelConfig.Login("acme", "SMTP_PASSWORD");

    @TempDir
    static Path folder;

    private static SSLContext good;
    private static SSLContext otherName;

    @BeforeAll
    static void certificates() throws IOException, InterruptedException, GeneralSecurityException {
        good = Certificates.make(folder, "dns:localhost").context();
        otherName = Certificates.make(folder, "dns:elsewhere.example").context();
    }

    @Test
    void starttls_comes_before_the_login_and_the_mail() throws IOException {
        try (var server = new RawMailServer(good, false);
                var client = new ChannelTestClient(good.getSocketFactory())) {
            client.mail(server.port(), NotificationChannelSetting.Security.STARTTLS, LOGIN)
                    .send(ChannelTestClient.STEP, ChannelTestClient.message());
            List<String> verbs =
                    server.heard.stream().map(line -> line.split(" ")[0]).toList();
            assertEquals(List.of("EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"), verbs.subList(0, 7));
            assertEquals(1, server.mails.size());
        }
    }

    @Test
    void tls_begins_with_the_first_byte() throws IOException {
        try (var server = new RawMailServer(good, true);
                var client = new ChannelTestClient(good.getSocketFactory())) {
            client.mail(server.port(), NotificationChannelSetting.Security.TLS, LOGIN)
                    .send(ChannelTestClient.STEP, ChannelTestClient.message());
            assertEquals("EHLO", server.heard.getFirst().split(" ")[0]);
            assertEquals(1, server.mails.size());
        }
    }

    /** Somebody on the line can take the offer away; the mail and the password must not go in the clear then. */
    @Test
    void missing_or_rejected_starttls_sends_nothing() throws IOException {
        try (var none = new RawMailServer();
                var refuses = new RawMailServer(good, false).at("STARTTLS", "454 not now");
                var client = new ChannelTestClient(good.getSocketFactory())) {
            for (RawMailServer server : List.of(none, refuses)) {
                SmtpNotificationChannel mail =
                        client.mail(server.port(), NotificationChannelSetting.Security.STARTTLS, LOGIN);
                assertThrows(
                        RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
                assertFalse(server.heard.stream().anyMatch(line -> line.matches("(AUTH|MAIL|RCPT|DATA).*")));
            }
        }
    }

    /** S47. */
    @ParameterizedTest
    @EnumSource(names = {"STARTTLS", "TLS"})
    void a_certificate_of_another_name_or_unknown_issuer_sends_nothing(NotificationChannelSetting.Security security)
            throws IOException {
        boolean implicit = security == NotificationChannelSetting.Security.TLS;
        try (var server = new RawMailServer(otherName, implicit);
                var trusting = new ChannelTestClient(otherName.getSocketFactory());
                var strange = new ChannelTestClient((SSLSocketFactory) SSLSocketFactory.getDefault())) {
            for (ChannelTestClient client : List.of(trusting, strange)) {
                SmtpNotificationChannel mail = client.mail(server.port(), security, LOGIN);
                assertThrows(
                        RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            }
            assertEquals(List.of(), server.mails);
            assertFalse(server.heard.stream().anyMatch(line -> line.startsWith("AUTH")));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ann",
                "ann@",
                "@example.com",
                "ann@example.com\r\nRCPT TO:<bob@example.com>",
                "ann@example.com\nX: y",
                "ann@example.com\u0000",
                "ann@example.com, bob@example.com",
                "ann@example.com> <bob@example.com",
                "Ann <ann@example.com>",
                "<ann@example.com>",
                "@relay.example:ann@example.com",
                "ann@relay.example@example.com",
                "\"ann lee\"@example.com",
                "\"a\\r\\nb\"@example.com",
                "ann(comment)@example.com",
                "ann@[127.0.0.1]",
                "ann@exa mple.com",
                "ann@-example.com",
                "ann..lee@example.com",
                "group: ann@example.com;",
                "änn@example.com",
                "ann@example.com SIZE=1",
                " ann@example.com",
            })
    void a_recipient_is_one_plain_address(String to) throws IOException {
        try (var server = new RawMailServer();
                var client = new ChannelTestClient()) {
            NotificationMessage message =
                    NotificationMessage.of(to, ChannelTestClient.message().rendered());
            RequestRejected refused = assertThrows(
                    RequestRejected.class, () -> client.plain(server.port()).send(ChannelTestClient.STEP, message));
            assertTrue(refused.toString().endsWith("Nothing was sent."), refused::toString);
            assertEquals(List.of(), server.heard);
        }
    }

    @Test
    void an_internationalized_domain_is_written_in_ascii() {
        assertEquals(
                "ann@xn--kln-sna.example",
                EmailAddress.parseAddress("ann@köln.example").orElseThrow().address());
        assertEquals(
                new EmailAddress("Ann, Lee", "a@b.example"),
                EmailAddress.parseWithName("\"Ann, Lee\" <a@b.example>").orElseThrow());
        assertTrue(EmailAddress.parseWithName("Ann\r\nBcc: x <a@b.example>").isEmpty());
        assertTrue(EmailAddress.parseAddress("a".repeat(65) + "@b.example").isEmpty());
        assertTrue(
                EmailAddress.parseAddress("a@" + "b.".repeat(130) + "example").isEmpty());
    }

    /** S12, for mail. */
    @Test
    void headers_cannot_be_injected_or_replaced() throws IOException {
        List<Map<String, String>> evil = List.of(
                Map.of("X-A", "a\r\nBcc: b@x.example"),
                Map.of("X-A", "a\nb"),
                Map.of("X-A", "a\u0000"),
                Map.of("X-A: b\r\nBcc", "c"),
                Map.of("Bcc", "b@x.example"),
                Map.of("To", "b@x.example"),
                Map.of("From", "b@x.example"),
                Map.of("Subject", "other"),
                Map.of("Message-ID", "<x@y>"),
                Map.of("Content-Type", "text/plain"),
                Map.of("Resent-To", "b@x.example"));
        try (var server = new RawMailServer();
                var client = new ChannelTestClient()) {
            for (Map<String, String> headers : evil) {
                NotificationMessage message = new NotificationMessage(
                        "ann@example.com", ChannelTestClient.message().rendered(), Map.of(), headers);
                assertThrows(
                        RequestRejected.class,
                        () -> client.plain(server.port()).send(ChannelTestClient.STEP, message),
                        headers::toString);
            }
            for (Map<String, String> overrides : List.of(
                    Map.of("from", "a@b.example\r\nBcc: c@d.example"),
                    Map.of("reply_to", "a@b.example, c@d.example"))) {
                NotificationMessage message = new NotificationMessage(
                        "ann@example.com", ChannelTestClient.message().rendered(), overrides, Map.of());
                assertThrows(
                        RequestRejected.class, () -> client.plain(server.port()).send(ChannelTestClient.STEP, message));
            }
            for (String subject : List.of("a\r\nBcc: x@y.example", "a\nb", "a\u0000b", " ", "x".repeat(501))) {
                NotificationMessage message =
                        NotificationMessage.of("ann@example.com", new RenderedMessage(subject, "x", null));
                assertThrows(
                        RequestRejected.class, () -> client.plain(server.port()).send(ChannelTestClient.STEP, message));
            }
            assertThrows(
                    RequestRejected.class,
                    () -> client.plain(server.port())
                            .send(
                                    ChannelTestClient.STEP,
                                    NotificationMessage.of("ann@example.com", new RenderedMessage("x", null, null))));
            assertEquals(List.of(), server.heard);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a\r\n.\r\nMAIL FROM:<evil@x.example>\r\nb", "a\n.\nQUIT\nb", "a\r.\rb", "\n.\r\n.", ".", "..a"})
    void a_dot_in_a_text_does_not_end_the_mail(String text) throws IOException {
        try (var server = new RawMailServer();
                var client = new ChannelTestClient()) {
            NotificationMessage message =
                    NotificationMessage.of("ann@example.com", new RenderedMessage("x", text, null));
            client.plain(server.port()).send(ChannelTestClient.STEP, message);
            assertEquals(1, server.mails.size());
            assertEquals(1, server.heard.stream().filter("."::equals).count());
            assertEquals(
                    1,
                    server.heard.stream()
                            .filter(line -> line.startsWith("RCPT"))
                            .count());
        }
    }

    @Test
    void the_password_stays_out_of_failures() throws IOException {
        try (var server = new RawMailServer().at("AUTH", "535 5.7.8 pässword is wrong");
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail = client.mail(server.port(), NotificationChannelSetting.Security.NONE, LOGIN);
            RequestRejected no = assertThrows(
                    RequestRejected.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            assertTrue(no.toString().contains("rejected the login"), no::toString);
            assertFalse(no.toString().contains("ssword"), no::toString);
        }
    }
}
