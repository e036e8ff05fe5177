package dev.semel.trials.crash;

import dev.semel.trials.crash.CommitProxy.Cut;
import dev.semel.trials.crash.CommitProxy.Kind;
import dev.semel.trials.crash.CommitProxy.Transaction;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One connection through the proxy: PostgreSQL's messages, one by one, both ways. */
final class ProxiedConnection {
    private static final int LARGEST_MESSAGE = 64 << 20;
    private static final String COMMIT_TEXT = "COMMIT";

    private final CommitProxy proxy;
    private final Socket client;
    private final Socket server;
    private final Map<String, String> statements = new HashMap<>();
    private final StringBuilder values = new StringBuilder();
    private Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    private long number;

    /** Set while the answer to COMMIT is to be swallowed. */
    private volatile @Nullable Transaction swallowing;

    ProxiedConnection(CommitProxy proxy, Socket client, Socket server) throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
    }

    void start() {
        Thread.ofVirtual().start(() -> run(this::requests));
        Thread.ofVirtual().start(() -> run(this::answers));
    }

    private interface Direction {
        void pump() throws IOException;
    }

    private void run(Direction direction) {
        try {
            direction.pump();
        } catch (IOException e) {
            // One side hung up, or we cut: either way nothing passes any more.
            cut();
        }
    }

    /** Both sides see the connection end. */
    void cut() {
        proxy.gone(this);
        for (Socket socket : new Socket[] {client, server}) {
            try {
                socket.close();
            } catch (IOException e) {
                System.err.println("proxy: a socket did not close: " + e.getMessage());
            }
        }
    }

    private void requests() throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(server.getOutputStream()));
        byte[] startup = body(in);
        out.writeInt(startup.length + 4);
        out.write(startup);
        out.flush();
        while (true) {
            byte type = in.readByte();
            byte[] body = body(in);
            if (!passes(type, body)) {
                cut();
                return;
            }
            forward(out, type, body);
            if (in.available() == 0) {
                out.flush();
            }
        }
    }

    /** Learns from a message; false where the connection is cut instead of passing it on. */
    private boolean passes(byte type, byte[] body) {
        return switch (type) {
            case 'P' -> {
                statements.put(text(body, 0), text(body, text(body, 0).length() + 1));
                yield true;
            }
            case 'B' -> {
                String portal = text(body, 0);
                yield bound(statements.getOrDefault(text(body, portal.length() + 1), ""), body);
            }
            case 'Q' -> bound(text(body, 0), body);
            default -> true;
        };
    }

    private boolean bound(String sql, byte[] body) {
        boolean commit = sql.strip().equalsIgnoreCase(COMMIT_TEXT);
        if (sql.strip().equalsIgnoreCase("BEGIN") || sql.strip().equalsIgnoreCase("ROLLBACK")) {
            begin();
            return true;
        }
        if (!commit) {
            for (Kind kind : Kind.values()) {
                if (sql.contains(kind.mark)) {
                    kinds.add(kind);
                }
            }
            values.append(new String(body, StandardCharsets.ISO_8859_1));
        }
        Transaction transaction = new Transaction(number, kinds, values.toString());
        Cut cut = proxy.decide(transaction, commit);
        boolean passes = switch (cut) {
            case NONE -> true;
            case BEFORE, COMMIT -> {
                proxy.note(cut, transaction);
                yield false;
            }
            case ANSWER -> {
                swallowing = transaction;
                yield true;
            }
        };
        if (commit) {
            begin();
        }
        return passes;
    }

    private void begin() {
        number = proxy.nextTransaction();
        kinds = EnumSet.noneOf(Kind.class);
        values.setLength(0);
    }

    private void answers() throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(server.getInputStream()));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(client.getOutputStream()));
        while (true) {
            byte type = in.readByte();
            byte[] body = body(in);
            Transaction lost = swallowing;
            if (lost == null) {
                forward(out, type, body);
                if (in.available() == 0) {
                    out.flush();
                }
            } else if (type == 'C' && text(body, 0).equals(COMMIT_TEXT)) {
                // Only a COMMIT that the database says is done counts as an answer that was lost.
                proxy.note(Cut.ANSWER, lost);
                cut();
                return;
            }
        }
    }

    private static void forward(DataOutputStream out, byte type, byte[] body) throws IOException {
        out.writeByte(type);
        out.writeInt(body.length + 4);
        out.write(body);
    }

    private static byte[] body(DataInputStream in) throws IOException {
        int length = in.readInt() - 4;
        if (length < 0 || length > LARGEST_MESSAGE) {
            throw new IOException("not a message of PostgreSQL: " + length + " bytes");
        }
        byte[] body = new byte[length];
        in.readFully(body);
        return body;
    }

    /** A text that ends with a zero byte. */
    private static String text(byte[] body, int from) {
        int to = from;
        while (body[to] != 0) {
            to++;
        }
        return new String(body, from, to - from, StandardCharsets.UTF_8);
    }
}
