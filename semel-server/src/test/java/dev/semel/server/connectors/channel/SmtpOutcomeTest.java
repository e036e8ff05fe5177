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
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is known of a mail after each way in which a conversation can end. */
class SmtpOutcomeTest {
    private static final SmtpNotificationChannelConfig.Login LOGIN =
            new SmtpNotificationChannelConfig.Login("acme", "SMTP_PASSWORD");
    private static final SmtpNotificationChannelConfig.Timeouts SHORT = new SmtpNotificationChannelConfig.Timeouts(
            Duration.ofSeconds(5), Duration.ofMillis(200), Duration.ofSeconds(60));

    @ParameterizedTest
    @ValueSource(strings = {"CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"})
    void a_connection_that_is_lost_before_the_last_dot_has_sent_nothing(String point) throws IOException {
        try (var server = new RawMailServer().at(point, RawMailServer.CUT);
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail = client.mail(server.port(), NotificationChannelSetting.Security.NONE, LOGIN);
            assertThrows(RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            assertEquals(List.of(), server.mails);
            assertFalse(server.heard.contains("."));
        }
    }

    /** The mail is larger than all buffers between the two, so that its dot cannot have left. */
    @Test
    void a_connection_that_is_lost_in_the_middle_of_a_mail_has_sent_nothing() throws IOException {
        try (var server = new RawMailServer().at("BODY", RawMailServer.CUT);
                var client = new ChannelTestClient()) {
            NotificationMessage large = NotificationMessage.of(
                    "ann@example.com", new RenderedMessage("x", "line\n".repeat(6_000_000), null));
            assertThrows(RequestNotSent.class, () -> client.plain(server.port()).send(ChannelTestClient.STEP, large));
            assertEquals(List.of(), server.mails);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"})
    void a_server_that_falls_silent_before_the_last_dot_has_sent_nothing(String point) throws IOException {
        try (var server = new RawMailServer().at(point, RawMailServer.SILENCE);
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail =
                    client.mail(server.port(), NotificationChannelSetting.Security.NONE, LOGIN, SHORT);
            assertThrows(RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {RawMailServer.CUT, RawMailServer.SILENCE, "hello?", "", "354 more", "999 what"})
    void after_the_last_dot_only_a_response_decides(String answer) throws IOException {
        try (var server = new RawMailServer().at(".", answer);
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail =
                    client.mail(server.port(), NotificationChannelSetting.Security.NONE, null, SHORT);
            IOException unknown = assertThrows(
                    IOException.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            assertTrue(unknown.toString().contains("may have been sent"), unknown::toString);
            assertTrue(server.heard.contains("."));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "CONNECT, 421 4.3.2 not now, 421 4.3.2",
        "EHLO, 421 not now, 421",
        "AUTH, 454 4.7.0 later, 454 4.7.0",
        "MAIL, 451 later, 451",
        "RCPT, 450 4.2.1 ann@example.com is busy, 450 4.2.1",
        "RCPT, 421 going down, 421",
        "DATA, 451 later, 451",
        "., 452 4.3.1 disk full, 452 4.3.1",
        "., 421 going down, 421",
    })
    void a_temporary_rejection_is_not_sent_and_may_be_retried(String point, String answer, String code)
            throws IOException {
        try (var server = new RawMailServer().at(point, answer).at("HELO", answer);
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail = client.mail(server.port(), NotificationChannelSetting.Security.NONE, LOGIN);
            RequestNotSent no = assertThrows(
                    RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            assertTrue(no.toString().contains("(" + code + ")"), no::toString);
            assertFalse(no.toString().contains("ann@"), no::toString);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "CONNECT, 554 go away, 554",
        "AUTH, 535 5.7.8 wrong password, 535 5.7.8",
        "MAIL, 550 5.7.1 not you, 550 5.7.1",
        "RCPT, 550 5.1.1 ann@example.com is unknown, 550 5.1.1",
        "RCPT, 552 full, 552",
        "DATA, 554 no, 554",
        "., 554 5.7.1 spam, 554 5.7.1",
        "., 550-5.7.26 a long|550 5.7.26 story, 550 5.7.26",
    })
    void a_permanent_rejection_is_final(String point, String answer, String code) throws IOException {
        // The library says RSET after a no. Where the server has hung up by then the no still counts.
        for (String afterwards : List.of("250 ok", RawMailServer.CUT)) {
            try (var server = new RawMailServer()
                            .at(point, answer.replace("|", "\r\n"))
                            .at("RSET", afterwards);
                    var client = new ChannelTestClient()) {
                SmtpNotificationChannel mail =
                        client.mail(server.port(), NotificationChannelSetting.Security.NONE, LOGIN);
                RequestRejected no = assertThrows(
                        RequestRejected.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
                assertTrue(no.toString().contains("(" + code + ")"), no::toString);
                assertFalse(no.toString().contains("ann@"), no::toString);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {RawMailServer.CUT, RawMailServer.SILENCE, "500 what?"})
    void after_acceptance_the_end_of_the_session_changes_nothing(String end) throws IOException {
        try (var server = new RawMailServer().at("QUIT", end);
                var client = new ChannelTestClient()) {
            NotificationDeliveryReceipt delivery = client.mail(
                            server.port(), NotificationChannelSetting.Security.NONE, null, SHORT)
                    .send(ChannelTestClient.STEP, ChannelTestClient.message());
            assertEquals("250 2.0.0 queued as 4711", delivery.detail());
            assertEquals(1, server.mails.size());
        }
    }

    @Test
    void no_server_no_address_and_no_permission_send_nothing() throws IOException {
        int nobody;
        try (var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            nobody = listener.getLocalPort();
        }
        try (var client = new ChannelTestClient()) {
            assertThrows(
                    RequestNotSent.class,
                    () -> client.plain(nobody).send(ChannelTestClient.STEP, ChannelTestClient.message()));
            SmtpNotificationChannel.ConnectionServices line = client.line();
            AllowedOutboundAddressResolver nowhere = (host, port) -> {
                throw new java.net.UnknownHostException(host);
            };
            AllowedOutboundAddressResolver forbidden = (host, port) -> {
                throw new RequestNotSent("not there", null);
            };
            for (AllowedOutboundAddressResolver reach :
                    List.of(nowhere, forbidden, (AllowedOutboundAddressResolver) (host, port) -> List.of())) {
                var guarded = new SmtpNotificationChannel.ConnectionServices(
                        line.secrets(), reach, line.tls(), line.timer(), line.clock());
                var settings = new SmtpNotificationChannelConfig(
                        "localhost",
                        nobody,
                        NotificationChannelSetting.Security.NONE,
                        null,
                        EmailAddress.parseAddress("a@b.example").orElseThrow(),
                        null,
                        SmtpNotificationChannelConfig.Timeouts.DEFAULT);
                assertThrows(
                        RequestNotSent.class,
                        () -> new SmtpNotificationChannel(settings, guarded)
                                .send(ChannelTestClient.STEP, ChannelTestClient.message()));
            }
        }
    }

    @Test
    void a_send_times_out_even_if_the_server_does_not_read() throws IOException {
        var limits = new SmtpNotificationChannelConfig.Timeouts(
                Duration.ofSeconds(5), Duration.ofSeconds(60), Duration.ofMillis(300));
        try (var server = new RawMailServer().at("BODY", RawMailServer.SILENCE);
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail =
                    client.mail(server.port(), NotificationChannelSetting.Security.NONE, null, limits);
            NotificationMessage large = NotificationMessage.of(
                    "ann@example.com", new RenderedMessage("x", "line\n".repeat(6_000_000), null));
            assertThrows(RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, large));
        }
        for (Map.Entry<String, Class<? extends Exception>> point :
                Map.of("RCPT", RequestNotSent.class, ".", IOException.class).entrySet()) {
            try (var server = new RawMailServer().at(point.getKey(), RawMailServer.SILENCE);
                    var client = new ChannelTestClient()) {
                SmtpNotificationChannel mail =
                        client.mail(server.port(), NotificationChannelSetting.Security.NONE, null, limits);
                assertThrows(point.getValue(), () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"EHLO, true", "RCPT, true", "., false"})
    void a_server_that_talks_endlessly_is_disconnected(String point, boolean certain) throws IOException {
        try (var server = new RawMailServer().at(point, RawMailServer.ENDLESS);
                var client = new ChannelTestClient()) {
            Class<? extends Exception> expected = certain ? RequestNotSent.class : IOException.class;
            assertThrows(
                    expected,
                    () -> client.plain(server.port()).send(ChannelTestClient.STEP, ChannelTestClient.message()));
        }
    }

    @Test
    void a_server_that_does_not_know_ehlo_is_greeted_with_helo() throws IOException {
        try (var server = new RawMailServer().at("EHLO", "502 what?");
                var client = new ChannelTestClient()) {
            client.plain(server.port()).send(ChannelTestClient.STEP, ChannelTestClient.message());
            assertEquals(1, server.mails.size());
        }
    }

    @Test
    void with_a_login_no_mail_is_sent_to_a_server_without_authentication() throws IOException {
        try (var server = new RawMailServer().at("EHLO", "250 mail.test");
                var client = new ChannelTestClient()) {
            SmtpNotificationChannel mail = client.mail(server.port(), NotificationChannelSetting.Security.NONE, LOGIN);
            assertThrows(RequestNotSent.class, () -> mail.send(ChannelTestClient.STEP, ChannelTestClient.message()));
            assertEquals(
                    List.of(),
                    server.heard.stream()
                            .filter(line -> line.startsWith("MAIL"))
                            .toList());
        }
    }
}
