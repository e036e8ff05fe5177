package dev.semel.http;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Disables the automatic resend of GET and HEAD in the JDK's HTTP client, and checks whether that took effect.
 * The client reads the setting once, when the first client of the process is used. A trial request against a local
 * server shows whether Semel set it in time.
 */
final class JdkHttpClientResendDisabler {
    private static final String LIMIT = "jdk.httpclient.redirects.retrylimit";
    private static final int LOOK_AGAIN_MILLIS = 50;
    private static final Duration LONGEST = Duration.ofSeconds(5);

    private static final ReentrantLock LOCK = new ReentrantLock();
    private static @Nullable Boolean found;

    private JdkHttpClientResendDisabler() {}

    static void disableResend() {
        if (System.getProperty(LIMIT) == null) {
            System.setProperty(LIMIT, "1");
        }
    }

    /** Checked once per process, against a local server that closes every connection. */
    static boolean resends(HttpClient client) throws IOException {
        LOCK.lock();
        try {
            Boolean known = found;
            if (known == null) {
                known = requests(client) > 1;
                found = known;
            }
            return known;
        } finally {
            LOCK.unlock();
        }
    }

    private static int requests(HttpClient client) throws IOException {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(LOOK_AGAIN_MILLIS);
            URI here = URI.create(
                    "http://" + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort() + "/");
            HttpRequest request = HttpRequest.newBuilder(here).timeout(LONGEST).build();
            CompletableFuture<HttpResponse<Void>> answer =
                    client.sendAsync(request, HttpResponse.BodyHandlers.discarding());
            int requests = 0;
            while (!answer.isDone()) {
                requests += takeOne(server);
            }
            return requests;
        }
    }

    private static int takeOne(ServerSocket server) throws IOException {
        try (Socket socket = server.accept();
                InputStream in = socket.getInputStream()) {
            socket.setSoTimeout((int) LONGEST.toMillis());
            int lineBreaks = 0;
            while (lineBreaks < 4) {
                int c = in.read();
                if (c < 0) {
                    return 0;
                }
                lineBreaks = c == '\r' || c == '\n' ? lineBreaks + 1 : 0;
            }
            return 1;
        } catch (SocketTimeoutException e) {
            return 0;
        }
    }
}
