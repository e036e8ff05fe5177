package dev.semel.trials.life;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Semaphore;

/**
 * Stands in for a pooler in transaction mode with one session: every client believes to have its own, and each
 * transaction is given the only one there is.
 */
final class SharedSession implements AutoCloseable {
    private final ServerSocket door;
    private final Socket server;
    private final DataInputStream answers;
    private final DataOutputStream questions;
    private final Semaphore turn = new Semaphore(1, true);
    private byte[] greeting = {};

    SharedSession(int target) {
        try {
            this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            this.server = new Socket(InetAddress.getLoopbackAddress(), target);
            this.answers = new DataInputStream(server.getInputStream());
            this.questions = new DataOutputStream(server.getOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return door.getLocalPort();
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                Socket client = door.accept();
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException e) {
                if (!door.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void serve(Socket client) {
        boolean mine = false;
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
                send(questions, letter, rest);
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

    /** Without encryption, which is asked for first. */
    private static byte[] startup(DataInputStream in, DataOutputStream out) throws IOException {
        byte[] message = in.readNBytes(in.readInt() - 4);
        while (message.length == 4) {
            out.write('N');
            message = in.readNBytes(in.readInt() - 4);
        }
        return message;
    }

    /** Only the first client logs in; all others are told the same, with a number of the session that is made up. */
    private void greet(byte[] startup, DataOutputStream out) throws IOException {
        if (greeting.length == 0) {
            questions.writeInt(startup.length + 4);
            questions.write(startup);
            questions.flush();
            ByteArrayOutputStream told = new ByteArrayOutputStream();
            pass(new DataOutputStream(told));
            greeting = told.toByteArray();
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
            door.close();
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
