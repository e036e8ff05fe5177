package dev.semel.server.connectors.outbound;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.error.HttpStatusException;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLSocketFactory;

/**
 * The HTTP client for all outbound requests. One call sends one request on its own connection, to an address that
 * {@link OutboundAddressGuard} has checked. The exception says what is known:
 *
 * <ul>
 *   <li>{@link RequestNotSent}: no byte of the request was sent;
 *   <li>{@link HttpStatusException} (by {@link OutboundResponse#orThrow}): the response was not 2xx;
 *   <li>{@link ResultNotRecordable}: the response was 2xx but cannot be recorded;
 *   <li>{@link IOException}: the outcome is unknown.
 * </ul>
 *
 * <p>It never retries, uses no proxy and no cookies, and follows redirects only on request. docs/adr/0022 explains
 * why it is not the JDK's client.
 */
public final class OutboundHttpClient implements AutoCloseable {
    private static final Duration LONGEST_LOOKUP = Duration.ofSeconds(10);
    private static final int MAX_ERROR_BODY_BYTES = 64 * 1024;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final OutboundConnection.ConnectionOptions making;
    private final LongSupplier nanos;
    private final ScheduledThreadPoolExecutor alarms;
    private final OutboundOAuthTokenCache tokens;

    public OutboundHttpClient(OutboundAddressGuard guard) {
        this(guard, HostNameResolver.system(), (SSLSocketFactory) SSLSocketFactory.getDefault(), System::nanoTime);
    }

    /** @param nanos monotonic clock */
    public OutboundHttpClient(
            OutboundAddressGuard guard, HostNameResolver names, SSLSocketFactory tls, LongSupplier nanos) {
        this(new OutboundConnection.ConnectionOptions(guard, names, tls, null), nanos);
    }

    private OutboundHttpClient(OutboundConnection.ConnectionOptions making, LongSupplier nanos) {
        this.making = making;
        this.nanos = nanos;
        this.alarms = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("outbound-deadlines").factory());
        alarms.setRemoveOnCancelPolicy(true);
        this.tokens = new OutboundOAuthTokenCache(this::exchange, nanos);
    }

    /** For a scratch server: sends every request to this address, whatever its host. */
    public static OutboundHttpClient withSubstituteServer(InetSocketAddress standIn) {
        SSLSocketFactory tls = (SSLSocketFactory) SSLSocketFactory.getDefault();
        OutboundAddressGuard nobody = new OutboundAddressGuard(false, Set.of());
        return new OutboundHttpClient(
                new OutboundConnection.ConnectionOptions(nobody, HostNameResolver.system(), tls, standIn),
                System::nanoTime);
    }

    /**
     * Sends a request with a credential. If the server rejects a cached token with 401, a fresh one is fetched; the
     * request is sent again only if {@link OutboundRequest.SendOptions#repeatable} allows it.
     *
     * @return the response, whatever its status
     */
    public OutboundResponse send(OutboundRequest request, OutboundRequestAuth auth) throws IOException {
        return switch (auth) {
            case OutboundRequestAuth.None _ -> exchange(request);
            case OutboundRequestAuth.Fixed fixed -> exchange(request.with(fixed.header()));
            case OutboundRequestAuth.ClientCredentials credentials -> withToken(request, credentials);
        };
    }

    public OutboundResponse send(OutboundRequest request) throws IOException {
        return exchange(request);
    }

    /**
     * The allowed addresses of a host, for other protocols such as SMTP.
     *
     * @throws RequestNotSent if none of them is allowed
     * @throws IOException if the host name has no address
     */
    public List<InetAddress> allowedAddresses(String host, int port) throws IOException {
        if (making.substituteServer() != null) {
            throw new RequestNotSent("a temporary test server can send only HTTP requests. Nothing was sent.", null);
        }
        List<InetAddress> found = making.resolver().resolve(host, LONGEST_LOOKUP);
        return making.guard().admit(new OutboundRequestUrl("tcp", host.toLowerCase(Locale.ROOT), port, ""), found);
    }

    private OutboundResponse withToken(OutboundRequest request, OutboundRequestAuth.ClientCredentials credentials)
            throws IOException {
        OutboundOAuthTokenCache.AccessToken token = tokens.token(credentials);
        OutboundResponse answer = exchange(request.with(token.header()));
        if (answer.status() != 401) {
            return answer;
        }
        tokens.discard(credentials, token);
        return request.options().repeatable() && !token.fresh()
                ? exchange(request.with(tokens.token(credentials).header()))
                : answer;
    }

    /** Sends the request and follows redirects. */
    private OutboundResponse exchange(OutboundRequest request) throws IOException {
        try (OutboundRequestDeadline deadline = deadline(request)) {
            OutboundRequest now = request;
            for (int left = request.options().maxRedirects(); ; left--) {
                OutboundResponse answer = OutboundResponseCredentialRedactor.removeEchoes(sendOnce(now, deadline), now);
                if (left == 0 || !REDIRECTS.contains(answer.status())) {
                    return answer;
                }
                now = now.redirected(redirectTarget(now.target(), answer));
            }
        }
    }

    private OutboundRequestDeadline deadline(OutboundRequest request) {
        try {
            return new OutboundRequestDeadline(request.options().timeout(), nanos, alarms);
        } catch (RejectedExecutionException e) {
            throw new RequestNotSent("the server is shutting down. Nothing was sent.", e);
        }
    }

    private OutboundResponse sendOnce(OutboundRequest request, OutboundRequestDeadline deadline) throws IOException {
        byte[] bytes = bytes(request);
        OutboundConnection line = OutboundConnection.open(request.target(), making, deadline);
        try {
            return readResponse(line, request, bytes);
        } catch (IOException e) {
            // Without its cause: a TLS alert after the request has the class of a failed handshake and would look like
            // a request that was not sent.
            IOException unknown = new IOException("the request to "
                    + request.target().authority() + " was sent, and its outcome is unknown: "
                    + (deadline.hasPassed()
                            ? "no complete response arrived within "
                                    + request.options().timeout()
                            : describe(e)));
            unknown.addSuppressed(e);
            throw unknown;
        }
    }

    private static String describe(IOException failure) {
        return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    }

    private static OutboundResponse readResponse(OutboundConnection line, OutboundRequest request, byte[] bytes)
            throws IOException {
        OutboundHttpResponseReader incoming = new OutboundHttpResponseReader(line.in());
        OutboundHttpResponseReader.ResponseHead head;
        try {
            line.write(bytes);
            head = incoming.readHead();
        } catch (java.net.SocketException cut) {
            head = readEarlyResponse(incoming, cut);
        }
        boolean success = head.status() >= 200 && head.status() < 300;
        int longest = success ? request.options().maxResponseBytes() : MAX_ERROR_BODY_BYTES;
        byte[] body;
        try {
            body = incoming.readBody(head, request.method(), longest);
        } catch (IOException e) {
            if (success && e instanceof OutboundHttpResponseReader.UnsupportedEncoding) {
                throw notRecordable(request, "in a content encoding that was not requested");
            }
            if (success) {
                throw e;
            }
            body = new byte[0]; // the status is enough, even if the body is unreadable
        }
        if (body.length > longest && success) {
            throw notRecordable(request, "larger than " + longest + " bytes");
        }
        return new OutboundResponse(head.status(), head.headers(), body);
    }

    /** The request succeeded, whatever the response contains: it must not be repeated and needs no decision. */
    private static ResultNotRecordable notRecordable(OutboundRequest request, String why) {
        return new ResultNotRecordable(new JsonConversionFailed(
                "The response of " + request.target().authority() + " is " + why
                        + ". The request succeeded; the response was not recorded.",
                "Request less data, or raise max_response (at most 10 MiB)."));
    }

    /** A server that rejects a long body early may close while we still write; its response may be in the buffer. */
    private static OutboundHttpResponseReader.ResponseHead readEarlyResponse(
            OutboundHttpResponseReader incoming, IOException cut) throws IOException {
        try {
            return incoming.readHead();
        } catch (IOException _) {
            throw cut;
        }
    }

    private static byte[] bytes(OutboundRequest request) {
        OutboundRequestUrl target = request.target();
        var head = new StringBuilder()
                .append(request.method())
                .append(' ')
                .append(target.path())
                .append(" HTTP/1.1\r\nHost: ")
                .append(target.authority())
                .append("\r\nConnection: close\r\nAccept-Encoding: identity\r\n");
        if (!request.has("User-Agent")) {
            head.append("User-Agent: semel\r\n");
        }
        if (!request.has("Accept")) {
            head.append("Accept: application/json, */*;q=0.5\r\n");
        }
        for (OutboundRequestHeader header : request.headers()) {
            head.append(header.name()).append(": ").append(header.value()).append("\r\n");
        }
        byte[] body = request.body();
        if (!OutboundRequest.isReadOnly(request.method())) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        var all = new ByteArrayOutputStream(head.length() + body.length + 2);
        all.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(body);
        return all.toByteArray();
    }

    /** The target of a redirect; throws if it must not be followed. */
    private static OutboundRequestUrl redirectTarget(OutboundRequestUrl from, OutboundResponse answer) {
        String location = answer.headers().firstValue("Location").orElse("");
        OutboundRequestUrl to;
        try {
            URI here = URI.create(from.scheme() + "://" + from.authority() + from.path());
            to = OutboundRequestUrl.parse(here.resolve(new URI(location)).toString());
        } catch (URISyntaxException | RequestNotSent e) {
            throw new RequestRejected("a redirect of " + from.authority()
                    + " points to something other than a plain http or https URL; it was not followed");
        }
        if (from.isHttps() && !to.isHttps()) {
            throw new RequestRejected(
                    "a redirect of " + from.authority() + " points from https to http; it was not followed");
        }
        return to;
    }

    @Override
    public void close() {
        alarms.shutdown(); // deadlines of running requests still fire
        making.resolver().close();
    }
}
