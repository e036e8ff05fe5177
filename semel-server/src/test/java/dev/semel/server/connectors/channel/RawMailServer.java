package dev.semel.server.connectors.channel;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * A mail server that does at each point of a conversation what a test tells it: answer, be silent, or hang up. It writes
 * down every line it hears.
 */
public final class RawMailServer implements AutoCloseable {
    /** Instead of an answer: closes the connection. */
    static final String CUT = "CUT";

    /** Instead of an answer: says nothing until the other side has gone. */
    static final String SILENCE = "SILENCE";

    /** Instead of an answer: lines without end. */
    static final String ENDLESS = "ENDLESS";

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Map<String, String> script = new HashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final @Nullable SSLContext tls;
    private final boolean implicit;

    /** Every line that was heard, the lines of mails among them, with CRLF taken off. */
    public final List<String> heard = new CopyOnWriteArrayList<>();

    /** The mails that were taken: their lines with the dots as they were on the wire. */
    public final List<String> mails = new CopyOnWriteArrayList<>();

    public RawMailServer() throws IOException {
        this(null, false);
    }

    /** @param tls null where it has none; then it does not offer STARTTLS */
    RawMailServer(@Nullable SSLContext tls, boolean implicit) throws IOException {
        this.tls = tls;
        this.implicit = implicit;
        Thread.ofVirtual().start(this::serve);
    }

    /** @param point CONNECT, a verb, BODY (after its first line) or `.` */
    RawMailServer at(String point, String answer) {
        script.put(point, answer);
        return this;
    }

    public int port() {
        return listener.getLocalPort();
    }

    private void serve() {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> {
                    try (socket) {
                        talk(implicit ? encrypted(socket) : socket);
                    } catch (IOException | Hangup _) {
                        // The other side left, or this one did as it was notified.
                    }
                });
            }
        } catch (IOException _) {
            // The test is over.
        }
    }

    private static final class Hangup extends RuntimeException {}

    private void talk(Socket first) throws IOException {
        Socket socket = first;
        var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
        say(socket, "CONNECT", "220 mail.test ready");
        String line;
        while ((line = in.readLine()) != null) {
            heard.add(line);
            String verb = line.split(" ")[0].toUpperCase(Locale.ROOT);
            switch (verb) {
                case "EHLO" -> say(socket, verb, features(socket));
                case "STARTTLS" -> {
                    say(socket, verb, "220 go on");
                    socket = encrypted(socket);
                    in = new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
                }
                case "AUTH" -> say(socket, verb, "235 2.7.0 welcome");
                case "DATA" -> {
                    say(socket, verb, "354 go on");
                    if (script.getOrDefault(verb, "354").startsWith("354")) {
                        mail(socket, in);
                    }
                }
                case "QUIT" -> {
                    say(socket, verb, "221 bye");
                    return;
                }
                default -> say(socket, verb, "250 ok");
            }
        }
    }

    private String features(Socket socket) {
        boolean offer = tls != null && !(socket instanceof SSLSocket);
        return (offer ? "250-mail.test\r\n250-STARTTLS\r\n" : "250-mail.test\r\n") + "250 AUTH PLAIN LOGIN";
    }

    private void mail(Socket socket, BufferedReader in) throws IOException {
        List<String> lines = new ArrayList<>();
        String line;
        while ((line = in.readLine()) != null) {
            heard.add(line);
            if (line.equals(".")) {
                String answer = script.getOrDefault(".", "250 2.0.0 queued as 4711");
                if (answer.startsWith("250")) {
                    mails.add(String.join("\n", lines));
                }
                say(socket, ".", answer);
                return;
            }
            lines.add(line);
            if (script.containsKey("BODY")) {
                say(socket, "BODY", "");
            }
        }
    }

    private void say(Socket socket, String point, String usual) throws IOException {
        OutputStream out = socket.getOutputStream();
        String answer = script.getOrDefault(point, usual);
        switch (answer) {
            case CUT -> throw new Hangup();
            case SILENCE -> {
                try {
                    closed.await();
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
                throw new Hangup();
            }
            case ENDLESS -> {
                while (true) {
                    out.write("250-and another thing\r\n".getBytes(StandardCharsets.UTF_8));
                }
            }
            default -> {
                out.write((answer + "\r\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        }
    }

    private Socket encrypted(Socket socket) throws IOException {
        if (tls == null) {
            throw new IOException("no certificate");
        }
        SSLSocket secure = (SSLSocket) tls.getSocketFactory().createSocket(socket, null, true);
        secure.setUseClientMode(false);
        secure.startHandshake();
        return secure;
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        listener.close();
    }
}
