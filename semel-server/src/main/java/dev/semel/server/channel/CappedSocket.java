package dev.semel.server.channel;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Proxy;
import java.net.Socket;

/** A connection that reads only so many bytes: what a mail server has to say is short, and no server may fill the heap. */
final class CappedSocket extends Socket {
    private final int most;

    CappedSocket(int most) {
        super(Proxy.NO_PROXY); // a proxy of the environment would connect to what nobody has checked
        this.most = most;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new Capped(super.getInputStream(), most);
    }

    private static final class Capped extends FilterInputStream {
        private int left;

        Capped(InputStream in, int most) {
            super(in);
            this.left = most;
        }

        @Override
        public int read() throws IOException {
            int b = super.read();
            left -= b < 0 ? 0 : spent(1);
            return b;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            int count = super.read(into, from, length);
            left -= count < 0 ? 0 : spent(count);
            return count;
        }

        private int spent(int count) throws IOException {
            if (count > left) {
                throw new IOException("the server talks without end");
            }
            return count;
        }
    }
}
