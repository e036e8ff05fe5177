package dev.semel.server.connectors.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.GreenMailUtil;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.error.RequestRejected;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.NotificationChannelSetting;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import jakarta.mail.internet.MimeUtility;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mail as a whole mail server, written by others, receives it. */
class SmtpNotificationChannelTest {
    private final GreenMail server = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    private final ChannelTestClient client = new ChannelTestClient();

    @BeforeEach
    void start() {
        server.start();
        server.setUser("ann@example.com", "acme", "pässword");
    }

    @AfterEach
    void stop() throws IOException {
        server.stop();
        client.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Grüße",
                "Ihre Bestellung 4711 ist unterwegs und kommt voraussichtlich am Mittwoch zwischen zwölf und fünfzehn"
                        + " Uhr",
                "ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß ÄÖÜäöüß",
                "🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉",
                "日本語の件名がとても長いので、何行にも分けて符号化しなければならないという例です。日本語の件名",
                "A plain subject that is long enough to need a second line because it has more than seventy-eight",
                "=?utf-8?q?not_an_encoded_word?= is text",
                "two  spaces and a trailing one "
            })
    void a_subject_is_folded_as_rfc_2047_says(String subject) throws IOException, MessagingException {
        RenderedMessage rendered = new RenderedMessage(subject, "text", null);
        client.plain(port()).send(ChannelTestClient.STEP, NotificationMessage.of("ann@example.com", rendered));
        String raw = GreenMailUtil.getWholeMessage(received());
        List<String> lines = new ArrayList<>();
        for (String line : raw.lines().toList()) {
            if (line.startsWith("Subject:") || (!lines.isEmpty() && line.startsWith(" "))) {
                lines.add(line);
            } else if (!lines.isEmpty()) {
                break;
            }
        }
        for (String line : lines) {
            assertTrue(line.length() <= (raw.contains("=?UTF-8?") ? 76 : 78), line.length() + ": " + line);
            for (String word : line.replace("Subject:", "").strip().split(" ")) {
                if (word.startsWith("=?UTF-8?")) {
                    assertFalse(MimeUtility.decodeText(word).contains("\uFFFD"), "a character is split: " + word);
                }
            }
        }
        assertEquals(subject.strip(), received().getSubject().strip());
    }

    @Test
    void a_local_part_outside_ascii_is_rejected_with_its_reason() {
        RenderedMessage rendered = new RenderedMessage("s", "text", null);
        for (String to : List.of("jörg@example.com", "用户@example.com")) {
            RequestRejected rejected = assertThrows(
                    RequestRejected.class,
                    () -> client.plain(port()).send(ChannelTestClient.STEP, NotificationMessage.of(to, rendered)));
            assertTrue(
                    String.valueOf(rejected.getMessage()).contains("outside ASCII before the @"), rejected::getMessage);
            assertFalse(String.valueOf(rejected.getMessage()).contains(to), rejected::getMessage);
        }
    }

    @Test
    void a_mail_has_both_parts_in_utf8() throws IOException, MessagingException {
        NotificationDeliveryReceipt delivery =
                client.plain(port()).send(ChannelTestClient.STEP, ChannelTestClient.message());
        MimeMessage mail = received();
        assertEquals("Grüße", mail.getSubject());
        InternetAddress from = (InternetAddress) mail.getFrom()[0];
        assertEquals("Acme Größe", from.getPersonal());
        assertEquals("hello@acme.example", from.getAddress());
        assertEquals("help@acme.example", mail.getReplyTo()[0].toString());
        assertEquals("ann@example.com", mail.getAllRecipients()[0].toString());
        MimeMultipart parts = (MimeMultipart) mail.getContent();
        assertTrue(parts.getContentType().startsWith("multipart/alternative"), parts::getContentType);
        assertEquals("Hallo Ann, 5 € für dich.", parts.getBodyPart(0).getContent());
        assertEquals("<p>Hallo <b>Ann</b></p>", parts.getBodyPart(1).getContent());
        assertTrue(parts.getBodyPart(1).getContentType().startsWith("text/html"));
        assertEquals(delivery.messageId(), mail.getMessageID());
        assertEquals(Date.from(ChannelTestClient.NOW), mail.getSentDate());
        assertEquals("auto-generated", mail.getHeader("Auto-Submitted", null));
    }

    @Test
    void the_message_id_depends_only_on_the_key() throws IOException, MessagingException {
        SmtpNotificationChannel mail = client.plain(port());
        String first = mail.send(ChannelTestClient.step("k1"), ChannelTestClient.message())
                .messageId();
        String again = mail.send(
                        ChannelTestClient.step("k1"),
                        NotificationMessage.of("ann@example.com", new RenderedMessage("other", "other", null)))
                .messageId();
        String other = mail.send(ChannelTestClient.step("k2"), ChannelTestClient.message())
                .messageId();
        assertEquals(first, again);
        assertTrue(String.valueOf(first).matches("<[0-9a-f]{32}@acme\\.example>"), first);
        assertTrue(!String.valueOf(other).equals(first), other);
        assertEquals(first, server.getReceivedMessages()[1].getMessageID());
    }

    @Test
    void a_step_may_override_the_sender_and_mark_its_mail() throws IOException, MessagingException {
        NotificationMessage message = new NotificationMessage(
                "ann@example.com",
                new RenderedMessage("x", null, "<p>ü</p>"),
                Map.of("from", "Sales <sales@acme.example>", "reply_to", "r@acme.example"),
                Map.of("X-Semel-Run", "run_1", "List-Unsubscribe", "<https://acme.example/u>"));
        client.plain(port()).send(ChannelTestClient.STEP, message);
        MimeMessage mail = received();
        assertEquals("Sales <sales@acme.example>", mail.getFrom()[0].toString());
        assertEquals("r@acme.example", mail.getReplyTo()[0].toString());
        assertEquals("run_1", mail.getHeader("X-Semel-Run", null));
        assertEquals("<https://acme.example/u>", mail.getHeader("List-Unsubscribe", null));
        assertEquals("<p>ü</p>", String.valueOf(mail.getContent()).strip());
    }

    @Test
    void a_login_is_checked_by_the_server() throws IOException {
        server.getUserManager().setAuthRequired(true);
        SmtpNotificationChannelConfig.Login right = new SmtpNotificationChannelConfig.Login("acme", "SMTP_PASSWORD");
        SmtpNotificationChannelConfig.Login wrong = new SmtpNotificationChannelConfig.Login("acme", "WRONG");
        client.mail(port(), NotificationChannelSetting.Security.NONE, right)
                .send(ChannelTestClient.STEP, ChannelTestClient.message());
        assertThrows(
                RequestRejected.class,
                () -> client.mail(port(), NotificationChannelSetting.Security.NONE, wrong)
                        .send(ChannelTestClient.STEP, ChannelTestClient.message()));
        assertEquals(1, server.getReceivedMessages().length);
    }

    @Test
    void long_lines_and_large_texts_arrive_complete() throws IOException, MessagingException {
        String text = "ä".repeat(3_000) + "\n.\nx" + "y".repeat(200_000);
        client.plain(port())
                .send(
                        ChannelTestClient.STEP,
                        NotificationMessage.of("ann@example.com", new RenderedMessage("x", text, null)));
        assertEquals(text.replace("\n", "\r\n"), received().getContent());
    }

    private int port() {
        return server.getSmtp().getPort();
    }

    private MimeMessage received() {
        MimeMessage[] mails = server.getReceivedMessages();
        assertEquals(1, mails.length);
        return mails[0];
    }
}
