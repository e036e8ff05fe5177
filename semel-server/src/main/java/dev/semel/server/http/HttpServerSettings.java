package dev.semel.server.http;

import java.time.Duration;

/**
 * Address, limits and timeouts of the HTTP server. Each limit bounds the resources that one client can use.
 *
 * @param port 0 selects a free port; {@link HttpServer#port()} returns it
 * @param maxBody for routes without their own limit
 * @param maxPrologue bytes of the request line
 * @param maxHeaders bytes of all header lines together
 * @param headTimeout from the first byte of a request to the end of its headers
 * @param bodyTimeout for the whole body
 * @param writeTimeout for a client that does not read its response
 * @param idleTimeout between two requests of a kept-alive connection
 * @param drainTimeout how long a stopping server waits for requests in flight
 * @param proxies whose X-Forwarded-For header the server trusts
 */
public record HttpServerSettings(
        String host,
        int port,
        int maxBody,
        int maxPrologue,
        int maxHeaders,
        Duration headTimeout,
        Duration bodyTimeout,
        Duration writeTimeout,
        Duration idleTimeout,
        int maxConnections,
        int maxConcurrent,
        int backlog,
        Duration drainTimeout,
        TrustedProxies proxies) {

    public HttpServerSettings {
        atLeast("maxBody", maxBody, 0);
        atLeast("maxPrologue", maxPrologue, 64);
        atLeast("maxHeaders", maxHeaders, 256);
        atLeast("maxConnections", maxConnections, 1);
        atLeast("maxConcurrent", maxConcurrent, 1);
        atLeast("backlog", backlog, 1);
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port is " + port + ", not 0 to 65535");
        }
    }

    public static HttpServerSettings defaults(String host, int port) {
        return new HttpServerSettings(
                host,
                port,
                1 << 20,
                8 << 10,
                16 << 10,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofSeconds(30),
                Duration.ofSeconds(60),
                10_000,
                4_096,
                1_024,
                Duration.ofSeconds(10),
                TrustedProxies.NONE);
    }

    public HttpServerSettings withProxies(TrustedProxies trusted) {
        return new HttpServerSettings(
                host,
                port,
                maxBody,
                maxPrologue,
                maxHeaders,
                headTimeout,
                bodyTimeout,
                writeTimeout,
                idleTimeout,
                maxConnections,
                maxConcurrent,
                backlog,
                drainTimeout,
                trusted);
    }

    public HttpServerSettings withMaxBody(int bytes) {
        return new HttpServerSettings(
                host,
                port,
                bytes,
                maxPrologue,
                maxHeaders,
                headTimeout,
                bodyTimeout,
                writeTimeout,
                idleTimeout,
                maxConnections,
                maxConcurrent,
                backlog,
                drainTimeout,
                proxies);
    }

    public HttpServerSettings withTimeouts(Duration head, Duration body, Duration write, Duration idle) {
        return new HttpServerSettings(
                host,
                port,
                maxBody,
                maxPrologue,
                maxHeaders,
                head,
                body,
                write,
                idle,
                maxConnections,
                maxConcurrent,
                backlog,
                drainTimeout,
                proxies);
    }

    public HttpServerSettings withLoad(int connections, int requests) {
        return new HttpServerSettings(
                host,
                port,
                maxBody,
                maxPrologue,
                maxHeaders,
                headTimeout,
                bodyTimeout,
                writeTimeout,
                idleTimeout,
                connections,
                requests,
                backlog,
                drainTimeout,
                proxies);
    }

    public HttpServerSettings withDrainTimeout(Duration atMost) {
        return new HttpServerSettings(
                host,
                port,
                maxBody,
                maxPrologue,
                maxHeaders,
                headTimeout,
                bodyTimeout,
                writeTimeout,
                idleTimeout,
                maxConnections,
                maxConcurrent,
                backlog,
                atMost,
                proxies);
    }

    private static void atLeast(String name, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(name + " is " + value + ". Set at least " + least);
        }
    }
}
