package dev.semel.server.connectors.channel;

import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.URLName;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import org.eclipse.angus.mail.smtp.SMTPTransport;

/**
 * One SMTP session that records how far it got. The server accepts an email with its reply to the final dot (RFC 5321,
 * 4.1.1.4); after the dot only that reply decides.
 */
final class SmtpSession extends SMTPTransport {
    private boolean dataEndSent;
    private boolean accepted;
    private String verb = "";
    private String firstRejection = "";
    private String acceptanceReply = "";
    private LineEndTracker written = new LineEndTracker(OutputStream.nullOutputStream());

    SmtpSession(Session session, URLName login) {
        super(session, login);
    }

    /** Whether the final dot may have been sent. */
    boolean dataEndSent() {
        return dataEndSent;
    }

    boolean accepted() {
        return accepted;
    }

    /** The first error reply, temporary or permanent; empty if there was none. */
    String firstRejection() {
        return firstRejection;
    }

    /** The server's reply to the final dot. */
    String acceptanceReply() {
        return acceptanceReply;
    }

    void open(Socket socket) throws MessagingException {
        connect(socket);
    }

    @Override
    protected OutputStream data() throws MessagingException {
        written = new LineEndTracker(super.data());
        return written;
    }

    @Override
    protected void finishData() throws IOException, MessagingException {
        written.end();
        dataEndSent = true;
        int answer = simpleCommand(".");
        acceptanceReply = getLastServerResponse();
        accepted = answer / 100 == 2;
        if (!accepted) {
            throw new MessagingException("the server did not accept the email");
        }
    }

    @Override
    protected void sendCommand(String command) throws MessagingException {
        verb = command.split(" ", 2)[0];
        super.sendCommand(command);
    }

    /** Keeps the first error reply: the library sends RSET afterwards and loses the reply if that fails. */
    @Override
    protected int readServerResponse() throws MessagingException {
        int code = super.readServerResponse();
        // If the server rejects EHLO, the library sends HELO; that is not a rejection of the email.
        if (code >= 400 && code <= 599 && firstRejection.isEmpty() && !verb.equals("EHLO")) {
            firstRejection = getLastServerResponse();
        }
        return code;
    }

    /** Tracks whether the last line is complete, because the final dot needs its own line. */
    private static final class LineEndTracker extends FilterOutputStream {
        private int last = '\n';

        LineEndTracker(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int b) throws IOException {
            out.write(b);
            last = b;
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            out.write(bytes, from, length);
            last = length > 0 ? bytes[from + length - 1] : last;
        }

        void end() throws IOException {
            if (last != '\n') {
                out.write('\r');
                out.write('\n');
            }
        }
    }
}
