package dev.semel.server.http.transport;

import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpRequestObserver;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.http.TrustedProxies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** A running server with a few routes, and a record of what reached a handler. */
public final class TestHttpServer implements AutoCloseable, ServerHttpRequestObserver {
    static final String AUTH = "Authorization: Bearer dev\r\n";

    final Queue<String> handled = new ConcurrentLinkedQueue<>();
    final LinkedBlockingQueue<String> answered = new LinkedBlockingQueue<>();
    public final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    public final Queue<UUID> instances = new ConcurrentLinkedQueue<>();
    public final Queue<String> asked = new ConcurrentLinkedQueue<>();
    final HttpServer server;

    public TestHttpServer() {
        this(HttpServerSettings.defaults("127.0.0.1", 0), new HttpRouter());
    }

    TestHttpServer(HttpServerSettings settings) {
        this(settings, new HttpRouter());
    }

    TestHttpServer(HttpServerSettings settings, HttpRouter router) {
        router.add(new HttpRoute("GET", "/healthz", TokenScope.OPEN, request -> echo(request, "ok")).alwaysResponding())
                .add("GET", "/", TokenScope.OPEN, request -> echo(request, "home"))
                .add("GET", "/metrics", TokenScope.READ, request -> echo(request, "metrics"))
                .add("GET", "/v1/runs", TokenScope.READ, request -> echo(request, "runs"))
                .add("GET", "/v1/runs/{run_id}", TokenScope.READ, request -> echo(request, request.parameter("run_id")))
                .add("POST", "/v1/runs/query", TokenScope.READ, request -> echo(request, "query"))
                .add(
                        "POST",
                        "/v1/webhooks/{source}",
                        TokenScope.OPEN,
                        request -> echo(request, request.parameter("source")))
                .add(
                        "POST",
                        "/v1/workflows/{id}/trigger",
                        TokenScope.TRIGGER,
                        request -> echo(request, new String(request.body(), StandardCharsets.UTF_8)));
        server = HttpServer.start(settings, router, this::who, this);
    }

    static HttpServerSettings limitedTo(int connections, int requests) {
        return settings(HttpServerSettings.Timeouts.DEFAULT, connections, requests);
    }

    static HttpServerSettings limitedTo(int connections, int requests, TrustedProxies proxies) {
        HttpServerSettings usual = limitedTo(connections, requests);
        return new HttpServerSettings(
                usual.host(),
                usual.port(),
                usual.maxBody(),
                usual.maxPrologue(),
                usual.maxHeaders(),
                usual.timeouts(),
                connections,
                requests,
                usual.backlog(),
                proxies,
                usual.hosts());
    }

    static HttpServerSettings drainingFor(Duration drain) {
        HttpServerSettings.Timeouts usual = HttpServerSettings.Timeouts.DEFAULT;
        return settings(
                new HttpServerSettings.Timeouts(usual.head(), usual.body(), usual.write(), usual.idle(), drain),
                10_000,
                4_096);
    }

    static HttpServerSettings settings(HttpServerSettings.Timeouts timeouts, int connections, int requests) {
        HttpServerSettings usual = HttpServerSettings.defaults("127.0.0.1", 0);
        return new HttpServerSettings(
                usual.host(),
                usual.port(),
                usual.maxBody(),
                usual.maxPrologue(),
                usual.maxHeaders(),
                timeouts,
                connections,
                requests,
                usual.backlog(),
                usual.proxies(),
                usual.hosts());
    }

    private @Nullable Principal who(String token) {
        asked.add(token);
        return switch (token) {
            case "dev" -> new Principal("tok_dev", 1, "default", Set.of(TokenScope.TRIGGER, TokenScope.READ));
            case "admin" -> new Principal("tok_admin", 1, "default", Set.of(TokenScope.ADMIN));
            case "explode" -> throw new IllegalStateException("secret text of the store");
            default -> null;
        };
    }

    private ServerHttpResponse echo(ServerHttpRequest request, String what) {
        handled.add(request.method() + " " + request.rawPath());
        return ServerHttpResponse.of(200, "text/plain", what.getBytes(StandardCharsets.UTF_8));
    }

    public RawConnection wire() throws IOException {
        return new RawConnection(server.port());
    }

    /** One request with a token, on a connection of its own. */
    RawConnection.RawResponse ask(String method, String target, String... headers) throws IOException {
        return askAs(AUTH, method, target, headers);
    }

    public RawConnection.RawResponse askAs(String auth, String method, String target, String... headers)
            throws IOException {
        try (RawConnection wire = wire()) {
            String lines = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
            wire.send(method + " " + target + " HTTP/1.1\r\nHost: x\r\n" + auth + lines + "\r\n");
            return method.equals("HEAD") ? wire.head() : wire.reply();
        }
    }

    @Override
    public void onResponse(String route, int status, long nanos) {
        answered.add(route + " " + status);
    }

    @Override
    public void onError(String route, UUID instance, Throwable error) {
        failures.add(error);
        instances.add(instance);
    }

    @Override
    public void close() {
        server.stop();
    }
}
