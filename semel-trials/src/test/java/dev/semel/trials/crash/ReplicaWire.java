package dev.semel.trials.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The wire from a primary to its replica. It can be made to carry nothing, without anybody being notified. */
final class ReplicaWire implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile boolean stalled;

    ReplicaWire(int target) {
        this.target = target;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** From now on nothing arrives. */
    void stall() {
        stalled = true;
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket replica = listener.accept();
                Socket primary = new Socket(InetAddress.getLoopbackAddress(), target);
                open.add(replica);
                open.add(primary);
                Thread.ofVirtual().start(() -> carry(replica, primary));
                Thread.ofVirtual().start(() -> carry(primary, replica));
            } catch (IOException e) {
                // The primary is not there yet, or not any more; the replica knocks again by itself.
                if (listener.isClosed()) {
                    return;
                }
            }
        }
    }

    private void carry(Socket from, Socket to) {
        byte[] buffer = new byte[64 * 1024];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                if (!stalled) {
                    out.write(buffer, 0, read);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // One end hung up, which ends the other as well.
            cut(from, to);
            return;
        }
        cut(from, to);
    }

    private void cut(Socket... sockets) {
        for (Socket socket : sockets) {
            open.remove(socket);
            try {
                socket.close();
            } catch (IOException e) {
                System.err.println("replica wire: a socket did not close: " + e.getMessage());
            }
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        open.forEach(this::cut);
    }
}
