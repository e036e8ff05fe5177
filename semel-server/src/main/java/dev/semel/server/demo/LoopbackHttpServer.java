package dev.semel.server.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

final class LoopbackHttpServer implements AutoCloseable {
    private final HttpServer http;
    private final ExecutorService threads;

    record HttpReply(int status, String type, String text) {}

    /** Handles a request. Null means no response: the client sees a broken connection. */
    interface ReplyHandler {
        @Nullable
        HttpReply handle(HttpExchange exchange) throws IOException;
    }

    /** @param port 0 selects a free port */
    LoopbackHttpServer(int port, ExecutorService threads, ReplyHandler handler) throws IOException {
        this.http =
                HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port), 0);
        this.threads = threads;
        http.setExecutor(threads);
        http.createContext("/", exchange -> reply(exchange, handler));
        http.start();
    }

    private static void reply(HttpExchange exchange, ReplyHandler handler) {
        try (exchange) {
            HttpReply reply = handler.handle(exchange);
            if (reply == null) {
                return;
            }
            byte[] bytes = reply.text().getBytes(StandardCharsets.UTF_8);
            boolean head = exchange.getRequestMethod().equals("HEAD");
            exchange.getResponseHeaders().set("Content-Type", reply.type());
            exchange.sendResponseHeaders(reply.status(), head ? -1 : bytes.length);
            if (!head) {
                exchange.getResponseBody().write(bytes);
            }
        } catch (IOException disconnected) {
            return; // the client disconnected; the call still counts
        }
    }

    int port() {
        return http.getAddress().getPort();
    }

    @Override
    public void close() {
        http.stop(0);
        threads.shutdownNow();
    }
}
