package dev.semel.server.http;

import io.helidon.http.HttpLogConfig;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** The server's door: Helidon below, our own router above, and no Helidon type to be seen from outside. */
public final class HttpServer {
    private final WebServer server;
    private final InFlight inFlight;
    private final Settings settings;

    private HttpServer(WebServer server, InFlight inFlight, Settings settings) {
        this.server = server;
        this.inFlight = inFlight;
        this.settings = settings;
    }

    public static HttpServer start(Settings settings, Router router, Authenticator authenticator, Observer observer) {
        InFlight inFlight = new InFlight();
        Dispatch dispatch = new Dispatch(settings, router, authenticator, observer, inFlight);
        WebServer server = WebServer.builder()
                .address(address(settings.host()))
                .port(settings.port())
                .backlog(settings.backlog())
                .maxTcpConnections(settings.maxConnections())
                .maxConcurrentRequests(settings.maxConcurrent())
                .maxPayloadSize(Math.max(settings.maxBody(), router.largestBody()))
                .idleConnectionTimeout(settings.idleTimeout())
                .shutdownGracePeriod(settings.drain())
                .shutdownHook(false)
                .contentEncoding(ContentEncodingContext.builder().contentEncodingsDiscoverServices(false).build())
                .protocolsDiscoverServices(false)
                .featuresDiscoverServices(false)
                .addConnectionSelector(Http1ConnectionSelector.builder()
                        .config(http1(settings))
                        .build())
                .addRouting(HttpRouting.builder().addFilter((_, request, response) -> dispatch.serve(request, response)))
                .build()
                .start();
        return new HttpServer(server, inFlight, settings);
    }

    public int port() {
        return server.port();
    }

    /** Takes no new requests, lets those in flight finish for {@link Settings#drain}, then closes. */
    public void stop() {
        inFlight.close();
        inFlight.await(settings.drain());
        server.stop();
    }

    private static Http1Config http1(Settings settings) {
        return Http1Config.builder()
                .maxPrologueLength(settings.maxPrologue())
                .maxHeadersSize(settings.maxHeaders())
                .validatePath(false)
                .validatePrologue(false)
                .continueImmediately(false)
                .log(HttpLogConfig.builder().receiveLog(false).sendLog(false).build())
                .build();
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("Host " + host + " is not known", e);
        }
    }
}
