package dev.semel.trials.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Accepts connections in front of a server of this machine. A subclass decides what passes. */
public abstract class TcpProxy implements AutoCloseable {
    private static final int BACKLOG = 200;

    private final ServerSocket listener;
    private final int target;

    protected TcpProxy(int target) {
        this.target = target;
        try {
            this.listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last act of a constructor. */
    protected final void start() {
        Thread.ofVirtual().start(this::accept);
    }

    public final int port() {
        return listener.getLocalPort();
    }

    /** Called for each client, on the thread that accepts; it closes both sockets. */
    protected abstract void connected(Socket client) throws IOException;

    protected final Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), target);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                connected(listener.accept());
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
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
    }
}
