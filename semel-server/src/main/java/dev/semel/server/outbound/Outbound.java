package dev.semel.server.outbound;

import dev.semel.error.TypeMismatch;
import dev.semel.workflow.Failures;
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
 * {@link Guard} has checked. The exception says what is known:
 *
 * <ul>
 *   <li>{@link Failures.NotSent}: no byte of the request was sent;
 *   <li>{@link Failures.Status} (by {@link Answer#orThrow}): the response was not 2xx;
 *   <li>{@link Failures.NotKept}: the response was 2xx but cannot be recorded;
 *   <li>{@link IOException}: the outcome is unknown.
 * </ul>
 *
 * <p>It never retries, uses no proxy and no cookies, and follows redirects only on request. docs/adr/0022 explains
 * why it is not the JDK's client.
 */
public final class Outbound implements AutoCloseable {
    private static final Duration LONGEST_LOOKUP = Duration.ofSeconds(10);
    private static final int LONGEST_REFUSAL = 64 * 1024;
    private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);

    private final Line.Making making;
    private final LongSupplier nanos;
    private final ScheduledThreadPoolExecutor alarms;
    private final Tokens tokens;

    public Outbound(Guard guard) {
        this(guard, Names.ofThisMachine(), (SSLSocketFactory) SSLSocketFactory.getDefault(), System::nanoTime);
    }

    /** @param nanos monotonic clock */
    public Outbound(Guard guard, Names names, SSLSocketFactory tls, LongSupplier nanos) {
        this(new Line.Making(guard, names, tls, null), nanos);
    }

    private Outbound(Line.Making making, LongSupplier nanos) {
        this.making = making;
        this.nanos = nanos;
        this.alarms = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("outbound-deadlines").factory());
        alarms.setRemoveOnCancelPolicy(true);
        this.tokens = new Tokens(this::exchange, nanos);
    }

    /** For a scratch server: sends every request to this address, whatever its host. */
    public static Outbound to(InetSocketAddress standIn) {
        SSLSocketFactory tls = (SSLSocketFactory) SSLSocketFactory.getDefault();
        Guard nobody = new Guard(false, Set.of());
        return new Outbound(new Line.Making(nobody, Names.ofThisMachine(), tls, standIn), System::nanoTime);
    }

    /**
     * Sends a request with a credential. If the server rejects a cached token with 401, a fresh one is fetched; the
     * request is sent again only if {@link Request.Manner#repeatable} allows it.
     *
     * @return the response, whatever its status
     */
    public Answer send(Request request, Auth auth) throws IOException {
        return switch (auth) {
            case Auth.None _ -> exchange(request);
            case Auth.Fixed fixed -> exchange(request.with(fixed.header()));
            case Auth.ClientCredentials credentials -> withToken(request, credentials);
        };
    }

    public Answer send(Request request) throws IOException {
        return exchange(request);
    }

    /**
     * The allowed addresses of a host, for other protocols such as SMTP.
     *
     * @throws Failures.NotSent if none of them is allowed
     * @throws IOException if the host name has no address
     */
    public List<InetAddress> addresses(String host, int port) throws IOException {
        if (making.standIn() != null) {
            throw new Failures.NotSent(
                    "a scratch server sends only HTTP. Nothing was sent.", null);
        }
        List<InetAddress> found = making.names().addresses(host, LONGEST_LOOKUP);
        return making.guard().admit(new Target("tcp", host.toLowerCase(Locale.ROOT), port, ""), found);
    }

    private Answer withToken(Request request, Auth.ClientCredentials credentials) throws IOException {
        Tokens.Token token = tokens.token(credentials);
        Answer answer = exchange(request.with(token.header()));
        if (answer.status() != 401) {
            return answer;
        }
        tokens.refused(credentials, token);
        return request.manner().repeatable() && !token.fresh()
                ? exchange(request.with(tokens.token(credentials).header()))
                : answer;
    }

    /** Sends the request and follows redirects. */
    private Answer exchange(Request request) throws IOException {
        try (Deadline deadline = deadline(request)) {
            Request now = request;
            for (int left = request.manner().redirects(); ; left--) {
                Answer answer = Echo.removed(sendOnce(now, deadline), now);
                if (left == 0 || !REDIRECTS.contains(answer.status())) {
                    return answer;
                }
                now = now.redirected(redirectTarget(now.target(), answer));
            }
        }
    }

    private Deadline deadline(Request request) {
        try {
            return new Deadline(request.manner().timeout(), nanos, alarms);
        } catch (RejectedExecutionException e) {
            throw new Failures.NotSent("the server is shutting down. Nothing was sent.", e);
        }
    }

    private Answer sendOnce(Request request, Deadline deadline) throws IOException {
        byte[] bytes = bytes(request);
        Line line = Line.to(request.target(), making, deadline);
        try {
            return readResponse(line, request, bytes);
        } catch (IOException e) {
            // Without its cause: a TLS alert after the request has the class of a failed handshake and would look like
            // a request that was not sent.
            IOException unknown = new IOException("the request to "
                    + request.target().authority() + " was sent, and its outcome is unknown: "
                    + (deadline.passed()
                            ? "no complete response arrived within "
                                    + request.manner().timeout()
                            : describe(e)));
            unknown.addSuppressed(e);
            throw unknown;
        }
    }

    private static String describe(IOException failure) {
        return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    }

    private static Answer readResponse(Line line, Request request, byte[] bytes) throws IOException {
        Incoming incoming = new Incoming(line.in());
        Incoming.Head head;
        try {
            line.write(bytes);
            head = incoming.head();
        } catch (java.net.SocketException cut) {
            head = readEarlyResponse(incoming, cut);
        }
        boolean success = head.status() >= 200 && head.status() < 300;
        int longest = success ? request.manner().longestAnswer() : LONGEST_REFUSAL;
        byte[] body;
        try {
            body = incoming.body(head, request.method(), longest);
        } catch (IOException e) {
            if (success && e instanceof Incoming.Strange) {
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
        return new Answer(head.status(), head.headers(), body);
    }

    /** The request succeeded, whatever the response contains: it must not be repeated and needs no decision. */
    private static Failures.NotKept notRecordable(Request request, String why) {
        return new Failures.NotKept(new TypeMismatch(
                "The response of " + request.target().authority() + " is " + why
                        + ". The request succeeded; the response was not recorded.",
                "Request less data, or raise max_response (at most 10 MiB)."));
    }

    /** A server that rejects a long body early may close while we still write; its response may be in the buffer. */
    private static Incoming.Head readEarlyResponse(Incoming incoming, IOException cut) throws IOException {
        try {
            return incoming.head();
        } catch (IOException _) {
            throw cut;
        }
    }

    private static byte[] bytes(Request request) {
        Target target = request.target();
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
        for (Header header : request.headers()) {
            head.append(header.name()).append(": ").append(header.value()).append("\r\n");
        }
        byte[] body = request.body();
        if (!Request.onlyLooks(request.method())) {
            head.append("Content-Length: ").append(body.length).append("\r\n");
        }
        var all = new ByteArrayOutputStream(head.length() + body.length + 2);
        all.writeBytes(head.append("\r\n").toString().getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(body);
        return all.toByteArray();
    }

    /** The target of a redirect; throws if it must not be followed. */
    private static Target redirectTarget(Target from, Answer answer) {
        String location = answer.headers().firstValue("Location").orElse("");
        Target to;
        try {
            URI here = URI.create(from.scheme() + "://" + from.authority() + from.path());
            to = Target.of(here.resolve(new URI(location)).toString());
        } catch (URISyntaxException | Failures.NotSent e) {
            throw new Failures.Refused("a redirect of " + from.authority()
                    + " points to something other than a plain http or https URL; it was not followed");
        }
        if (from.encrypted() && !to.encrypted()) {
            throw new Failures.Refused(
                    "a redirect of " + from.authority() + " points from https to http; it was not followed");
        }
        return to;
    }

    @Override
    public void close() {
        alarms.shutdown(); // deadlines of running requests still fire
        making.names().close();
    }
}
