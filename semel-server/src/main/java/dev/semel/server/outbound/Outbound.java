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
 * The one HTTP client for all that leaves the server. One call is one request on a connection of its own, to an address
 * that the {@link Guard} has seen, and its failure says what is known of it:
 *
 * <ul>
 *   <li>{@link Failures.NotSent}: no byte of it left, for certain;
 *   <li>{@link Failures.Status} (by {@link Answer#orThrow}): it was answered, and not with success;
 *   <li>{@link Failures.NotKept}: it was answered with success, and only the answer cannot be kept;
 *   <li>{@link IOException}: nobody knows.
 * </ul>
 *
 * <p>Nothing is sent a second time, no proxy and no cookie is used, and redirects are followed only where asked for. See
 * docs/adr/0022 for why it is not the client of the JDK.
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

    /** @param nanos a clock that only goes forward */
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

    /** For a scratch server: whatever host is named, this one is called, and nothing reaches anybody else. */
    public static Outbound to(InetSocketAddress standIn) {
        SSLSocketFactory tls = (SSLSocketFactory) SSLSocketFactory.getDefault();
        Guard nobody = new Guard(false, Set.of());
        return new Outbound(new Line.Making(nobody, Names.ofThisMachine(), tls, standIn), System::nanoTime);
    }

    /**
     * Sends a request with a credential. Where a token that was kept is refused with 401, a fresh one is got; the request
     * itself is sent once more only where {@link Request.Manner#repeatable} says that this does no harm.
     *
     * @return the answer, whatever its status
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
     * The addresses of a host that may be connected to, for what speaks another protocol.
     *
     * @throws Failures.NotSent where none of them may be called
     * @throws IOException where the name has no address
     */
    public List<InetAddress> addresses(String host, int port) throws IOException {
        if (making.standIn() != null) {
            throw new Failures.NotSent(
                    "this is a scratch server, which sends nothing but HTTP. Nothing was sent.", null);
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

    /** The request, and those that redirects lead to. */
    private Answer exchange(Request request) throws IOException {
        try (Deadline deadline = deadline(request)) {
            Request now = request;
            for (int left = request.manner().redirects(); ; left--) {
                Answer answer = Echo.removed(once(now, deadline), now);
                if (left == 0 || !REDIRECTS.contains(answer.status())) {
                    return answer;
                }
                now = now.redirected(next(now.target(), answer));
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

    private Answer once(Request request, Deadline deadline) throws IOException {
        byte[] bytes = bytes(request);
        Line line = Line.to(request.target(), making, deadline);
        try {
            return answer(line, request, bytes);
        } catch (IOException e) {
            // Without its cause: a TLS alert behind the request has the class of a failed handshake and would be taken
            // for a request that did not leave.
            IOException unknown = new IOException("the request to "
                    + request.target().authority() + " was sent, and it is not known what became of it: "
                    + (deadline.passed()
                            ? "no complete answer came within "
                                    + request.manner().timeout()
                            : why(e)));
            unknown.addSuppressed(e);
            throw unknown;
        }
    }

    private static String why(IOException failure) {
        return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    }

    private static Answer answer(Line line, Request request, byte[] bytes) throws IOException {
        Incoming incoming = new Incoming(line.in());
        Incoming.Head head;
        try {
            line.write(bytes);
            head = incoming.head();
        } catch (java.net.SocketException cut) {
            head = early(incoming, cut);
        }
        boolean success = head.status() >= 200 && head.status() < 300;
        int longest = success ? request.manner().longestAnswer() : LONGEST_REFUSAL;
        byte[] body;
        try {
            body = incoming.body(head, request.method(), longest);
        } catch (IOException e) {
            if (success && e instanceof Incoming.Strange) {
                throw unkept(request, "packed in a way that was not asked for");
            }
            if (success) {
                throw e;
            }
            body = new byte[0]; // the status tells what happened, also where its text does not come through
        }
        if (body.length > longest && success) {
            throw unkept(request, "larger than " + longest + " bytes");
        }
        return new Answer(head.status(), head.headers(), body);
    }

    /** It was done, whatever else the answer says: doing it again would be wrong, and nobody needs to be asked. */
    private static Failures.NotKept unkept(Request request, String why) {
        return new Failures.NotKept(new TypeMismatch(
                "The answer of " + request.target().authority() + " is " + why
                        + ". The request was answered with success; the answer was not recorded.",
                "Ask for less, or raise max_response (10 MiB at most)."));
    }

    /** Who refuses a long body early may close while we still write; what it said first is in the buffer at best. */
    private static Incoming.Head early(Incoming incoming, IOException cut) throws IOException {
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

    /** Where a redirect leads, if anybody may be led there. */
    private static Target next(Target from, Answer answer) {
        String location = answer.headers().firstValue("Location").orElse("");
        Target to;
        try {
            URI here = URI.create(from.scheme() + "://" + from.authority() + from.path());
            to = Target.of(here.resolve(new URI(location)).toString());
        } catch (URISyntaxException | Failures.NotSent e) {
            throw new Failures.Refused("a redirect of " + from.authority()
                    + " leads to something that is not a plain http or https URL; it was not followed");
        }
        if (from.encrypted() && !to.encrypted()) {
            throw new Failures.Refused(
                    "a redirect of " + from.authority() + " leads from https to http; it was not followed");
        }
        return to;
    }

    @Override
    public void close() {
        alarms.shutdown(); // those of requests that are still under way ring all the same
        making.names().close();
    }
}
