package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** To a checked address, with a verified certificate. Nothing is sent while it opens: {@link RequestNotSent}. */
record OutboundConnection(Socket socket) {
    private static final Duration LONGEST_CONNECT = Duration.ofSeconds(10);
    private static final int MOST_ADDRESSES = 4;

    /** @param substituteServer the server that receives every request instead, without TLS; null in real servers */
    record ConnectionOptions(
            OutboundAddressGuard guard,
            HostNameResolver resolver,
            SSLSocketFactory tls,
            @Nullable InetSocketAddress substituteServer) {}

    static OutboundConnection open(
            OutboundRequestUrl target, ConnectionOptions making, OutboundRequestDeadline deadline) {
        try {
            InetSocketAddress standIn = making.substituteServer();
            if (standIn != null) {
                return new OutboundConnection(connect(standIn.getPort(), List.of(standIn.getAddress()), deadline));
            }
            List<InetAddress> found = making.resolver().resolve(target.host(), deadline.remaining());
            Socket plain = connect(target.port(), making.guard().admit(target, found), deadline);
            return new OutboundConnection(target.isHttps() ? startTls(plain, target, making.tls()) : plain);
        } catch (IOException e) {
            throw new RequestNotSent(
                    "the request to " + target.authority() + " was not sent: "
                            + (deadline.hasPassed() ? "the timeout passed before the connection was open" : describe(e))
                            + ".",
                    e);
        }
    }

    private static String describe(IOException failure) {
        return switch (failure) {
            case UnknownHostException _ -> "DNS does not know the host";
            case SSLException tls -> "the TLS handshake failed (" + describe(tls) + ")";
            default -> "the connection failed (" + failure.getClass().getSimpleName() + ")";
        };
    }

    /** Describes the causes that a user can fix. */
    private static String describe(SSLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case java.security.cert.CertificateExpiredException _ -> {
                    return "the certificate has expired";
                }
                case java.security.cert.CertPathBuilderException _ -> {
                    return "no certificate authority that this server trusts issued the certificate";
                }
                default -> {}
            }
        }
        String text = String.valueOf(failure.getMessage());
        return text.contains("subject alternative") || text.contains("No name matching")
                ? "the certificate is for another host"
                : failure.getClass().getSimpleName();
    }

    /** Tries one address after the other; nothing was sent while none has accepted. */
    private static Socket connect(int port, List<InetAddress> addresses, OutboundRequestDeadline deadline)
            throws IOException {
        IOException last = new IOException("no address");
        for (InetAddress address : addresses.subList(0, Math.min(addresses.size(), MOST_ADDRESSES))) {
            Socket socket = new Socket(Proxy.NO_PROXY); // a proxy from the environment would resolve the name again
            deadline.attach(socket);
            try {
                Duration left = deadline.remaining();
                socket.connect(new InetSocketAddress(address, port), (int)
                        (left.compareTo(LONGEST_CONNECT) < 0 ? left : LONGEST_CONNECT).toMillis());
                socket.setTcpNoDelay(true);
                return socket;
            } catch (IOException e) {
                socket.close();
                last = e;
            }
        }
        throw last;
    }

    private static Socket startTls(Socket plain, OutboundRequestUrl target, SSLSocketFactory factory)
            throws IOException {
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, target.host(), target.port(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setApplicationProtocols(new String[] {"http/1.1"});
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    /** Writes the whole request; an exception means that an unknown part of it arrived. */
    void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    InputStream in() throws IOException {
        return socket.getInputStream();
    }
}
