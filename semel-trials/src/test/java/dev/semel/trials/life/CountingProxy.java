package dev.semel.trials.life;

import dev.semel.trials.support.TcpProxy;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Stands between a worker and PostgreSQL, lets everything through, and counts the statements that are executed. */
final class CountingProxy extends TcpProxy {
    private final Queue<String> statements = new ConcurrentLinkedQueue<>();

    CountingProxy(int target) {
        super(target);
        start();
    }

    /** The text of each executed statement where it was sent, in order; empty for one that was prepared before. */
    Queue<String> statements() {
        return statements;
    }

    @Override
    protected void connected(Socket client) throws IOException {
        Socket server = connect();
        Thread.ofVirtual().start(() -> copy(server, client));
        Thread.ofVirtual().start(() -> listen(client, server));
    }

    private static void copy(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            return; // one of the two is gone, and so is the other with the end of this
        }
    }

    /** Messages are a letter, a length and the rest; only those before the session begins have no letter. */
    private void listen(Socket client, Socket server) {
        try (client;
                server) {
            InputStream in = client.getInputStream();
            OutputStream out = server.getOutputStream();
            DataInputStream data = new DataInputStream(in);
            boolean first = true;
            while (true) {
                int letter = first ? 0 : data.readUnsignedByte();
                int length = data.readInt();
                byte[] rest = data.readNBytes(length - 4);
                count(letter, rest);
                if (!first) {
                    out.write(letter);
                }
                out.write(
                        new byte[] {(byte) (length >> 24), (byte) (length >> 16), (byte) (length >> 8), (byte) length});
                out.write(rest);
                first = first && rest.length == 4; // it asks for encryption first, and is notified that there is none
            }
        } catch (IOException e) {
            return; // closed by one of the two
        }
    }

    /** A parse names the statement whose execution follows it; an execution without one was prepared before. */
    private void count(int letter, byte[] rest) {
        switch (letter) {
            case 'Q' -> statements.add(text(rest, 0));
            case 'P' -> statements.add(text(rest, text(rest, 0).length() + 1));
            case 'E' -> statements.add("");
            default -> {}
        }
    }

    private static String text(byte[] bytes, int from) {
        int end = from;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, from, end - from, StandardCharsets.UTF_8);
    }
}
