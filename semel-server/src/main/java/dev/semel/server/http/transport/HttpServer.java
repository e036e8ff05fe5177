package dev.semel.server.http.transport;

import dev.semel.server.http.BearerTokenAuthenticator;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpRequestObserver;
import io.helidon.http.HttpLogConfig;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.webserver.ErrorHandling;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** The HTTP server: Helidon with strict request parsing and Semel's own router. No Helidon type is visible outside. */
public final class HttpServer implements AutoCloseable {
    private final WebServer server;
    private final InFlightRequestCounter inFlight;
    private final InboundConnectionDeadlineMonitor connections;
    private final HttpServerSettings settings;

    private HttpServer(
            WebServer server,
            InFlightRequestCounter inFlight,
            InboundConnectionDeadlineMonitor connections,
            HttpServerSettings settings) {
        this.server = server;
        this.inFlight = inFlight;
        this.connections = connections;
        this.settings = settings;
    }

    /** @throws IllegalStateException when the server cannot listen on the address */
    public static HttpServer start(
            HttpServerSettings settings,
            HttpRouter router,
            BearerTokenAuthenticator authenticator,
            ServerHttpRequestObserver observer) {
        ServerHttpRequestDispatcher dispatch =
                new ServerHttpRequestDispatcher(settings, router, authenticator, observer);
        InboundConnectionDeadlineMonitor connections = new InboundConnectionDeadlineMonitor(settings);
        HttpServerTransportErrorHandler errors = new HttpServerTransportErrorHandler(observer, dispatch.ids());
        DeadlineConnectionSelector guard = new DeadlineConnectionSelector(
                http1(settings), settings, connections, Math.max(settings.maxBody(), router.largestBody()));
        WebServer server = WebServer.builder()
                .address(address(settings.host()))
                .port(settings.port())
                .backlog(settings.backlog())
                // Without it, a response of two packets waits 40 ms for the acknowledgement of the first.
                .connectionOptions(options -> options.tcpNoDelay(true))
                .maxTcpConnections(InboundConnectionDeadlineMonitor.withHeadroom(settings.maxConnections()))
                .shutdownGracePeriod(settings.timeouts().drain())
                .shutdownHook(false)
                .directHandlers(errors.forAllEvents())
                // Passes our own error texts to the handler above, which ignores all others.
                .errorHandling(ErrorHandling.builder().includeEntity(true).build())
                .contentEncoding(ContentEncodingContext.builder()
                        .contentEncodingsDiscoverServices(false)
                        .build())
                .protocolsDiscoverServices(false)
                .featuresDiscoverServices(false)
                .addConnectionSelector(guard)
                .addRouting(
                        HttpRouting.builder().addFilter((_, request, response) -> dispatch.serve(request, response)))
                .build()
                .start();
        if (!server.isRunning()) {
            // Helidon only logs that it could not listen.
            throw new IllegalStateException("Cannot listen on " + settings.host() + ":" + settings.port()
                    + ": another process uses the port, or this machine does not have the address. The server"
                    + " did not start. Choose another --port, or stop the other process.");
        }
        return new HttpServer(server, dispatch.inFlight(), connections.start(), settings);
    }

    /** Closes connections past their deadline; without it, slow clients would use up all connections. */
    public Thread deadlineThread() {
        return connections.thread();
    }

    public int port() {
        return server.port();
    }

    /**
     * Stops listening and lets requests in flight finish within {@link HttpServerSettings.Timeouts#drain}. New requests on open
     * connections get 503. Then closes every connection.
     */
    public void stop() {
        inFlight.close();
        Thread listener = Thread.ofPlatform().name("http-stop").start(server::stop);
        inFlight.await(settings.timeouts().drain());
        connections.closeAll();
        try {
            listener.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /** Turns off Helidon's checks where {@link HttpRequestHeadValidator} is stricter, to avoid checking twice. */
    private static Http1ConnectionSelector http1(HttpServerSettings settings) {
        return Http1ConnectionSelector.builder()
                .config(Http1Config.builder()
                        .maxPrologueLength(settings.maxPrologue() + 16)
                        .maxHeadersSize(settings.maxPrologue() + settings.maxHeaders() + 16)
                        .validatePath(false)
                        .validatePrologue(false)
                        .validateRequestHeaders(false)
                        .continueImmediately(false)
                        .log(HttpLogConfig.builder()
                                .receiveLog(false)
                                .sendLog(false)
                                .build())
                        .build())
                .build();
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("Host " + host + " cannot be resolved", e);
        }
    }
}
