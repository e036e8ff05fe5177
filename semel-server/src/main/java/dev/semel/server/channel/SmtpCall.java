package dev.semel.server.channel;

import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.URLName;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import org.eclipse.angus.mail.smtp.SMTPTransport;

/**
 * One conversation with a mail server that knows how far it came. A server answers for a mail when it has read the dot
 * on a line of its own (RFC 5321, 4.1.1.4); before that it must not keep it, after that only its answer tells.
 */
final class SmtpCall extends SMTPTransport {
    private boolean handedOver;
    private boolean taken;
    private String verb = "";
    private String refusal = "";
    private String said = "";
    private LineEnd written = new LineEnd(OutputStream.nullOutputStream());

    SmtpCall(Session session, URLName login) {
        super(session, login);
    }

    /** Whether the last dot may have left. */
    boolean handedOver() {
        return handedOver;
    }

    /** Whether the server has answered for the mail. */
    boolean taken() {
        return taken;
    }

    /** The first answer that was a no, temporary or not; empty where there was none. */
    String refusal() {
        return refusal;
    }

    /** What was answered to the dot. */
    String said() {
        return said;
    }

    /** Talks over a connection that is there already. */
    void begin(Socket socket) throws MessagingException {
        connect(socket);
    }

    @Override
    protected OutputStream data() throws MessagingException {
        written = new LineEnd(super.data());
        return written;
    }

    @Override
    protected void finishData() throws IOException, MessagingException {
        written.end();
        handedOver = true;
        int answer = simpleCommand(".");
        said = getLastServerResponse();
        taken = answer / 100 == 2;
        if (!taken) {
            throw new MessagingException("the mail was not taken");
        }
    }

    @Override
    protected void sendCommand(String command) throws MessagingException {
        verb = command.split(" ", 2)[0];
        super.sendCommand(command);
    }

    /** Keeps the first no: the library says RSET after it, and forgets it where that fails. */
    @Override
    protected int readServerResponse() throws MessagingException {
        int code = super.readServerResponse();
        // A server that does not know EHLO is greeted with HELO; that is no refusal.
        if (code >= 400 && code <= 599 && refusal.isEmpty() && !verb.equals("EHLO")) {
            refusal = getLastServerResponse();
        }
        return code;
    }

    /** Knows whether the last line is finished, as the dot has to stand on one of its own. */
    private static final class LineEnd extends FilterOutputStream {
        private int last = '\n';

        LineEnd(OutputStream out) {
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
