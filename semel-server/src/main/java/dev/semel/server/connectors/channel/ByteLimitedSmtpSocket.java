package dev.semel.server.connectors.channel;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Proxy;
import java.net.Socket;

/** A socket that reads at most a fixed number of bytes, so that a mail server cannot fill the heap. */
final class ByteLimitedSmtpSocket extends Socket {
    private final int most;

    ByteLimitedSmtpSocket(int most) {
        super(Proxy.NO_PROXY); // a proxy from the environment would connect to an unchecked address
        this.most = most;
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new LimitedInputStream(super.getInputStream(), most);
    }

    private static final class LimitedInputStream extends FilterInputStream {
        private int left;

        LimitedInputStream(InputStream in, int most) {
            super(in);
            this.left = most;
        }

        @Override
        public int read() throws IOException {
            int b = super.read();
            left -= b < 0 ? 0 : countBytes(1);
            return b;
        }

        @Override
        public int read(byte[] into, int from, int length) throws IOException {
            int count = super.read(into, from, length);
            left -= count < 0 ? 0 : countBytes(count);
            return count;
        }

        private int countBytes(int count) throws IOException {
            if (count > left) {
                throw new IOException("the mail server sent more bytes than the limit");
            }
            return count;
        }
    }
}
