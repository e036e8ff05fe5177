package dev.semel.server.connectors.channel;

import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import dev.semel.server.settings.NotificationChannelSetting;
import dev.semel.workflow.Step;
import jakarta.mail.AuthenticationFailedException;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.URLName;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.InstantSource;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** SMTP has no idempotency key and no lookup, so it supports only the protections `at_most_once` and `ask`. */
public final class SmtpNotificationChannel implements NotificationChannel {
    /** Most bytes that a server may send in one session. */
    private static final int MOST_SAID = 256 * 1024;

    /** Most addresses of one host to try. */
    private static final int MOST_ADDRESSES = 3;

    /** The reply code and, if the server sent it, the enhanced code of RFC 3463. */
    private static final Pattern CODES =
            Pattern.compile("([0-9]{3})[ -]([245]\\.[0-9]{1,3}\\.[0-9]{1,3})?.*", Pattern.DOTALL);

    private final SmtpNotificationChannelConfig settings;
    private final ConnectionServices line;

    /** @param tls creates encrypted connections and decides which certificates to trust */
    public record ConnectionServices(
            SecretResolver secrets,
            AllowedOutboundAddressResolver resolver,
            SSLSocketFactory tls,
            SmtpTimeoutScheduler timer,
            InstantSource clock) {}

    public SmtpNotificationChannel(SmtpNotificationChannelConfig settings, ConnectionServices line) {
        this.settings = settings;
        this.line = line;
    }

    @Override
    public Set<String> protections() {
        return Set.of("at_most_once", "ask");
    }

    @Override
    public Set<String> overrides() {
        return Set.of("from", "reply_to");
    }

    @Override
    public NotificationDeliveryReceipt send(Step step, NotificationMessage message) throws IOException {
        Session session = Session.getInstance(properties());
        MimeMessage mail;
        String id;
        try {
            mail = new MimeMessageWriter(settings, session)
                    .write(step, message, line.clock().instant());
            id = mail.getMessageID();
        } catch (MessagingException e) {
            throw MimeMessageWriter.rejection(
                    "the email could not be created"); // the exception text may contain an address
        }
        InternetAddress to = MimeMessageWriter.parseRecipient(message).toInternetAddress();
        URLName login = NotificationPreSendFailureTranslator.run(this::login);
        Socket socket = connect();
        try (SmtpTimeoutScheduler.PendingTimeout _ =
                line.timer().schedule(settings.timeouts().total(), () -> close(socket))) {
            SmtpSession call = new SmtpSession(session, login);
            transmit(call, socket, mail, to);
            return new NotificationDeliveryReceipt(id, call.acceptanceReply());
        } finally {
            close(socket);
        }
    }

    private void transmit(SmtpSession call, Socket socket, MimeMessage mail, InternetAddress to) throws IOException {
        try {
            call.open(settings.security() == NotificationChannelSetting.Security.TLS ? startTls(socket) : socket);
            if (settings.login() != null && !call.supportsExtension("AUTH")) {
                throw new RequestNotSent("the mail server does not support authentication. Nothing was sent.", null);
            }
            call.sendMessage(mail, new InternetAddress[] {to});
            call.close();
        } catch (MessagingException | IOException | IllegalStateException e) {
            // Once the server accepted the email, a failure at the end of the session does not matter.
            if (!call.accepted()) {
                throw classify(call, e);
            }
        }
    }

    /** Classifies a failed session by how far it got and what the server replied. */
    private static IOException classify(SmtpSession call, Exception cause) {
        Matcher codes = CODES.matcher(call.firstRejection());
        if (!codes.matches()) {
            if (call.dataEndSent()) {
                return new IOException(
                        "the email was transmitted, but the mail server did not reply: the email may have been sent",
                        withoutText(cause));
            }
            throw new RequestNotSent("the mail server did not accept the email. Nothing was sent.", withoutText(cause));
        }
        String finer = codes.group(2);
        String shown = codes.group(1) + (finer == null ? "" : " " + finer);
        if (shown.startsWith("5")) {
            String what = cause instanceof AuthenticationFailedException ? "the login" : "the email";
            throw new RequestRejected("the mail server rejected %s (%s). Nothing was sent.".formatted(what, shown));
        }
        throw new RequestNotSent(
                "the mail server temporarily rejected the email (%s). Nothing was sent.".formatted(shown),
                withoutText(cause));
    }

    /** The class of a failure without its text, because servers repeat addresses in it. */
    private static Throwable withoutText(Exception failure) {
        Throwable last = failure;
        for (int i = 0; i < 10 && last.getCause() != null; i++) {
            last = last.getCause();
        }
        return new IOException(last.getClass().getSimpleName());
    }

    private Socket connect() {
        List<InetAddress> addresses;
        try {
            addresses = line.resolver().allowedAddresses(settings.host(), settings.port());
        } catch (IOException e) {
            throw new RequestNotSent(
                    "the host name of the mail server has no address. Nothing was sent.", withoutText(e));
        }
        IOException last = new IOException("the host has no address");
        for (InetAddress address : addresses.subList(0, Math.min(MOST_ADDRESSES, addresses.size()))) {
            Socket socket = new ByteLimitedSmtpSocket(MOST_SAID);
            try {
                // The address keeps the host name, which TLS checks the certificate against without another lookup.
                InetAddress named = InetAddress.getByAddress(settings.host(), address.getAddress());
                socket.connect(
                        new InetSocketAddress(named, settings.port()),
                        Math.toIntExact(settings.timeouts().connect().toMillis()));
                socket.setSoTimeout(
                        Math.toIntExact(settings.timeouts().response().toMillis()));
                return socket;
            } catch (IOException e) {
                close(socket);
                last = e;
            }
        }
        throw new RequestNotSent("the connection to the mail server failed. Nothing was sent.", withoutText(last));
    }

    private Socket startTls(Socket plain) throws IOException {
        SSLSocket socket = (SSLSocket) line.tls().createSocket(plain, settings.host(), settings.port(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    private URLName login() {
        SmtpNotificationChannelConfig.Login login = settings.login();
        String user = login == null ? null : login.user();
        String password =
                login == null ? null : line.secrets().reveal(login.secret(), settings.host(), settings.port());
        return new URLName("smtp", settings.host(), settings.port(), null, user, password);
    }

    private Properties properties() {
        var properties = new Properties();
        properties.setProperty("mail.smtp.host", settings.host());
        properties.setProperty("mail.smtp.localhost", settings.from().domain());
        properties.setProperty("mail.smtp.auth", Boolean.toString(settings.login() != null));
        properties.setProperty("mail.smtp.auth.mechanisms", "PLAIN LOGIN");
        boolean starttls = settings.security() == NotificationChannelSetting.Security.STARTTLS;
        properties.setProperty("mail.smtp.starttls.enable", Boolean.toString(starttls));
        properties.setProperty("mail.smtp.starttls.required", Boolean.toString(starttls));
        properties.setProperty("mail.smtp.ssl.checkserveridentity", "true");
        properties.put("mail.smtp.ssl.socketFactory", line.tls());
        properties.setProperty("mail.smtp.quitwait", "false");
        properties.setProperty("mail.smtp.quitonsessionreject", "false");
        properties.setProperty("mail.mime.encodeeol.strict", "true");
        return properties;
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException _) {
            // The socket is discarded anyway.
        }
    }
}
