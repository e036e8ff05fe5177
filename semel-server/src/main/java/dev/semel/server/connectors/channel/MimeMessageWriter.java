package dev.semel.server.connectors.channel;

import dev.semel.error.RequestRejected;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.workflow.Step;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeBodyPart;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import jakarta.mail.internet.MimeUtility;
import java.io.UnsupportedEncodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Converts a message to a MIME email. Rejects every value that could inject or break a header line. */
record MimeMessageWriter(SmtpNotificationChannelConfig settings, Session session) {
    private static final String UTF_8 = StandardCharsets.UTF_8.name();
    private static final int LONGEST_HEADER = 900;
    private static final int LONGEST_SUBJECT = 500;
    private static final int MOST_HEADERS = 20;
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9-]{0,63}");

    /** Headers that a message may set; none of them names sender, recipient or content. */
    private static final Set<String> ALLOWED_HEADERS = Set.of(
            "list-unsubscribe",
            "list-unsubscribe-post",
            "list-id",
            "feedback-id",
            "in-reply-to",
            "references",
            "importance",
            "precedence");

    /** The same id in every attempt, so that recipients can recognise a duplicate. */
    static String messageId(Step step, EmailAddress from) {
        return "<" + hash(step.key()) + "@" + from.domain() + ">";
    }

    MimeMessage write(Step step, NotificationMessage message, Instant now) throws MessagingException {
        EmailAddress from = override(message, "from").orElse(settings.from());
        String id = messageId(step, from);
        var mail = new MimeMessage(session) {
            @Override
            protected void updateMessageID() throws MessagingException {
                setHeader("Message-ID", id);
            }
        };
        mail.setFrom(from.toInternetAddress());
        EmailAddress replyTo = override(message, "reply_to").orElse(settings.replyTo());
        if (replyTo != null) {
            mail.setReplyTo(new InternetAddress[] {replyTo.toInternetAddress()});
        }
        mail.setRecipient(
                jakarta.mail.Message.RecipientType.TO, parseRecipient(message).toInternetAddress());
        mail.setHeader("Subject", EncodedSubject.of(subject(message.rendered())));
        mail.setSentDate(Date.from(now));
        mail.setHeader("Auto-Submitted", "auto-generated");
        mail.setHeader("X-Entity-Ref-ID", hash(step.key()));
        headers(mail, message.headers());
        body(mail, message.rendered());
        mail.saveChanges();
        return mail;
    }

    static EmailAddress parseRecipient(NotificationMessage message) {
        return EmailAddress.parseAddress(message.to())
                .orElseThrow(() -> rejection(
                        EmailAddress.hasNonAsciiLocalPart(message.to())
                                ? "the recipient's address has a character outside ASCII before the @, and Semel does"
                                        + " not support such addresses (SMTPUTF8)"
                                : "the recipient is not one plain email address such as ann@example.com"));
    }

    static RequestRejected rejection(String why) {
        return new RequestRejected(why + ". Nothing was sent.");
    }

    private static Optional<EmailAddress> override(NotificationMessage message, String name) {
        String text = message.overrides().get(name);
        return text == null
                ? Optional.empty()
                : Optional.of(EmailAddress.parseWithName(text)
                        .orElseThrow(() -> rejection("the override `" + name + "` is not one email address")));
    }

    private static String subject(RenderedMessage rendered) {
        String subject = rendered.subject();
        if (subject == null || subject.isBlank()) {
            throw rejection("the email has no subject");
        }
        if (subject.chars().anyMatch(Character::isISOControl)) {
            throw rejection("the subject contains a line break or a control character");
        }
        if (subject.length() > LONGEST_SUBJECT) {
            throw rejection("the subject has more than " + LONGEST_SUBJECT + " characters");
        }
        return subject;
    }

    private static void headers(MimeMessage mail, Map<String, String> headers) throws MessagingException {
        if (headers.size() > MOST_HEADERS) {
            throw rejection("the message has more than " + MOST_HEADERS + " headers");
        }
        for (Map.Entry<String, String> header : headers.entrySet()) {
            String lower = header.getKey().toLowerCase(Locale.ROOT);
            boolean open = NAME.matcher(header.getKey()).matches()
                    && (lower.startsWith("x-") || ALLOWED_HEADERS.contains(lower));
            if (!open) {
                throw rejection("the message sets a header that only the channel may set (X-… and List-… are allowed)");
            }
            String value = header.getValue();
            if (value.length() > LONGEST_HEADER || value.chars().anyMatch(Character::isISOControl)) {
                throw rejection("the header " + header.getKey() + " contains a control character or is too long");
            }
            try {
                mail.setHeader(
                        header.getKey(),
                        MimeUtility.fold(header.getKey().length() + 2, MimeUtility.encodeText(value, UTF_8, null)));
            } catch (UnsupportedEncodingException e) {
                throw new IllegalStateException("every Java has UTF-8", e);
            }
        }
    }

    private static void body(MimeMessage mail, RenderedMessage rendered) throws MessagingException {
        String text = rendered.text();
        String html = rendered.html();
        if (text != null && html != null) {
            var plain = new MimeBodyPart();
            plain.setText(text, UTF_8);
            var rich = new MimeBodyPart();
            rich.setText(html, UTF_8, "html");
            // Mail clients show the last alternative that they support (RFC 2046, 5.1.4).
            mail.setContent(new MimeMultipart("alternative", plain, rich));
        } else if (html != null) {
            mail.setText(html, UTF_8, "html");
        } else if (text != null) {
            mail.setText(text, UTF_8);
        } else {
            throw rejection("the email has neither a text nor an html part");
        }
    }

    private static String hash(String key) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
