package dev.semel.trials.life;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands in for a pooler in transaction mode with one session: every client believes to have its own, and each
 * transaction is given the only one there is.
 */
final class TransactionPoolerStub implements AutoCloseable {
    private final ServerSocket listener;
    private final Socket server;
    private final DataInputStream answers;
    private final DataOutputStream questions;
    private final Semaphore turn = new Semaphore(1, true);
    private final boolean keepsStatements;
    private final AtomicInteger clients = new AtomicInteger();
    private byte[] greeting = {};

    /** @param keepsStatements whether it tells prepared statements of different clients apart, as newer poolers do */
    TransactionPoolerStub(int target, boolean keepsStatements) {
        this.keepsStatements = keepsStatements;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            this.server = new Socket(InetAddress.getLoopbackAddress(), target);
            this.answers = new DataInputStream(server.getInputStream());
            this.questions = new DataOutputStream(server.getOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void serve(Socket client) {
        boolean mine = false;
        String prefix = "c" + clients.incrementAndGet();
        try (client) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            byte[] startup = startup(in, out);
            turn.acquireUninterruptibly();
            mine = true;
            greet(startup, out);
            turn.release();
            mine = false;
            for (int letter = in.readUnsignedByte(); letter != 'X'; letter = in.readUnsignedByte()) {
                byte[] rest = in.readNBytes(in.readInt() - 4);
                if (!mine) {
                    turn.acquireUninterruptibly();
                    mine = true;
                }
                send(questions, letter, keepsStatements ? renamed(letter, rest, prefix) : rest);
                if (letter == 'S' || letter == 'Q') {
                    questions.flush();
                    if (pass(out) == 'I') {
                        turn.release();
                        mine = false;
                    }
                }
            }
        } catch (IOException e) {
            return; // the client is gone
        } finally {
            if (mine) {
                turn.release();
            }
        }
    }

    /** The name of a prepared statement, where the message has one, with the name of its client before it. */
    private static byte[] renamed(int letter, byte[] rest, String prefix) throws IOException {
        boolean aboutStatement = (letter == 'D' || letter == 'C') && rest[0] == 'S';
        int at = letter == 'P' ? 0 : aboutStatement ? 1 : letter == 'B' ? end(rest, 0) + 1 : -1;
        if (at < 0 || rest[at] == 0) {
            return rest;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(rest, 0, at);
        out.write(prefix.getBytes(StandardCharsets.US_ASCII));
        out.write(rest, at, rest.length - at);
        return out.toByteArray();
    }

    private static int end(byte[] bytes, int from) {
        int end = from;
        while (bytes[end] != 0) {
            end++;
        }
        return end;
    }

    /** Without encryption, which is asked for first. */
    private static byte[] startup(DataInputStream in, DataOutputStream out) throws IOException {
        byte[] message = in.readNBytes(in.readInt() - 4);
        while (message.length == 4) {
            out.write('N');
            message = in.readNBytes(in.readInt() - 4);
        }
        return message;
    }

    /** Only the first client logs in; all others are notified the same, with a number of the session that is made up. */
    private void greet(byte[] startup, DataOutputStream out) throws IOException {
        if (greeting.length == 0) {
            questions.writeInt(startup.length + 4);
            questions.write(startup);
            questions.flush();
            ByteArrayOutputStream reported = new ByteArrayOutputStream();
            pass(new DataOutputStream(reported));
            greeting = reported.toByteArray();
        }
        out.write(greeting);
        out.flush();
    }

    /** Passes answers on up to the end of one, and tells how the transaction stands. */
    private int pass(DataOutputStream out) throws IOException {
        while (true) {
            int letter = answers.readUnsignedByte();
            byte[] rest = answers.readNBytes(answers.readInt() - 4);
            if (letter == 'K') {
                rest[3] ^= 0x55;
            }
            send(out, letter, rest);
            if (letter == 'Z') {
                out.flush();
                return rest[0];
            }
        }
    }

    private static void send(DataOutputStream out, int letter, byte[] rest) throws IOException {
        out.write(letter);
        out.writeInt(rest.length + 4);
        out.write(rest);
    }

    @Override
    public void close() {
        try {
            listener.close();
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
