package dev.semel.server.http.transport;

import dev.semel.server.http.AllowedHosts;
import dev.semel.server.http.TrustedProxies;
import java.time.Duration;

/**
 * Address, limits and timeouts of the HTTP server. Each limit bounds the resources that one client can use.
 *
 * @param port 0 selects a free port; {@link HttpServer#port()} returns it
 * @param maxBody for routes without their own limit
 * @param maxPrologue bytes of the request line
 * @param maxHeaders bytes of all header lines together
 * @param proxies whose X-Forwarded-For header the server trusts
 * @param hosts the server rejects every request with another Host header
 */
public record HttpServerSettings(
        String host,
        int port,
        int maxBody,
        int maxPrologue,
        int maxHeaders,
        Timeouts timeouts,
        int maxConnections,
        int maxConcurrent,
        int backlog,
        TrustedProxies proxies,
        AllowedHosts hosts) {

    /**
     * @param head from the first byte of a request to the end of its headers
     * @param body for the whole body
     * @param write for a client that does not read its response
     * @param idle between two requests of a kept-alive connection
     * @param drain how long a stopping server waits for requests in flight
     */
    public record Timeouts(Duration head, Duration body, Duration write, Duration idle, Duration drain) {
        static final Timeouts DEFAULT = new Timeouts(
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                Duration.ofSeconds(10));
    }

    public HttpServerSettings {
        atLeast("maxBody", maxBody, 0);
        atLeast("maxPrologue", maxPrologue, 64);
        atLeast("maxHeaders", maxHeaders, 256);
        atLeast("maxConnections", maxConnections, 1);
        atLeast("maxConcurrent", maxConcurrent, 1);
        atLeast("backlog", backlog, 1);
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be 0 to 65535, not " + port);
        }
    }

    public static HttpServerSettings defaults(String host, int port) {
        return defaults(host, port, TrustedProxies.NONE, AllowedHosts.ANY);
    }

    public static HttpServerSettings defaults(String host, int port, TrustedProxies proxies, AllowedHosts hosts) {
        return new HttpServerSettings(
                host, port, 1 << 20, 8 << 10, 16 << 10, Timeouts.DEFAULT, 10_000, 4_096, 1_024, proxies, hosts);
    }

    private static void atLeast(String name, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(name + " must be at least " + least + ", not " + value);
        }
    }
}
