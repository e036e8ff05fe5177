package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerRequestHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The way of one request, in this order: is the server open, which route, who asks, may they, is the body acceptable,
 * then the handler. Whoever fails at one of these learns nothing of what comes after it.
 */
final class Dispatch {
    private static final Header NO_SNIFF = HeaderValues.createCached("X-Content-Type-Options", "nosniff");
    private static final byte[] NOTHING = new byte[0];
    private static final String NO_ROUTE = "-";
    /** An unread body up to this size is read away after the answer, so that the connection can be kept. */
    private static final int CHEAP_TO_SKIP = 64 << 10;

    private final Settings settings;
    private final Router router;
    private final Credentials credentials;
    private final Observer observer;
    private final RequestIds ids = new RequestIds();
    private final InFlight inFlight;

    Dispatch(Settings settings, Router router, Authenticator authenticator, Observer observer, InFlight inFlight) {
        this.settings = settings;
        this.router = router;
        this.credentials = new Credentials(authenticator);
        this.observer = observer;
        this.inFlight = inFlight;
    }

    void serve(ServerRequest request, ServerResponse response) {
        long start = System.nanoTime();
        Exchange exchange = new Exchange(request, response, ids.next());
        boolean open = inFlight.enter();
        try {
            Answer answer = open ? answer(exchange) : Problems.answer(shuttingDown(), exchange.id);
            exchange.send(answer, !open);
            observer.answered(exchange.route, answer.status(), System.nanoTime() - start);
        } finally {
            inFlight.leave();
        }
    }

    private Answer answer(Exchange exchange) {
        try {
            return decide(exchange);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.INTERNAL) {
                observer.failed(exchange.route, exchange.id, e);
            }
            return Problems.answer(e, exchange.id);
        } catch (Exception | StackOverflowError e) {
            observer.failed(exchange.route, exchange.id, e);
            return Problems.answer(Problems.internal(), exchange.id);
        }
    }

    private Answer decide(Exchange exchange) throws Exception {
        Router.Lookup lookup = router.find(exchange.method, exchange.path);
        Principal principal = authenticate(exchange, lookup);
        return switch (lookup) {
            case Router.Nothing _ -> throw notFound();
            case Router.OtherMethods others -> {
                if (exchange.method.equals("OPTIONS")) {
                    yield Answer.empty(204).with("Allow", others.allow());
                }
                yield Problems.answer(notAllowed(exchange.method, others), exchange.id).with("Allow", others.allow());
            }
            case Router.Found found -> {
                exchange.route = found.route().pattern();
                if (principal != null) {
                    Credentials.allow(principal, found.route().scope());
                }
                yield found.route().handler().handle(exchange.read(found, principal));
            }
        };
    }

    /**
     * Everything under /v1 wants a credential before it says anything, even that there is nothing there; only a route
     * that is open by name is served without one.
     */
    private @Nullable Principal authenticate(Exchange exchange, Router.Lookup lookup) {
        boolean api = exchange.path.equals("/v1") || exchange.path.startsWith("/v1/");
        boolean open = switch (lookup) {
            case Router.Found found -> found.route().scope() == Scope.OPEN;
            case Router.OtherMethods others -> !api && others.open();
            case Router.Nothing _ -> !api;
        };
        return open ? null : credentials.check(exchange.lines(HeaderNames.AUTHORIZATION));
    }

    private static SemelException notFound() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is nothing at this address. Nothing was done.",
                "Check the spelling; addresses are case-sensitive and have no slash at the end.");
    }

    private static SemelException notAllowed(String method, Router.OtherMethods others) {
        return new SemelException(
                ErrorCode.METHOD_NOT_ALLOWED,
                "Method " + method + " is not offered at this address. Nothing was done.",
                "Use one of: " + others.allow() + ".");
    }

    private static SemelException shuttingDown() {
        return new SemelException(
                ErrorCode.SHUTTING_DOWN,
                "The server is shutting down. The request was not looked at.",
                "Send the same request again in a moment.");
    }

    /** One request and its answer in the terms of the web server below. */
    private final class Exchange {
        private final ServerRequest request;
        private final ServerResponse response;
        private final UUID id;
        private final String method;
        private final String path;
        private final ServerRequestHeaders headers;
        private String route = NO_ROUTE;
        private boolean bodyRead;

        Exchange(ServerRequest request, ServerResponse response, UUID id) {
            this.request = request;
            this.response = response;
            this.id = id;
            this.method = request.prologue().method().text();
            this.path = request.prologue().uriPath().rawPath();
            this.headers = request.headers();
        }

        List<String> lines(HeaderName name) {
            return headers.contains(name) ? headers.get(name).allValues() : List.of();
        }

        Request read(Router.Found found, @Nullable Principal principal) throws IOException {
            String query = request.prologue().query().rawValue();
            Request.Line line = new Request.Line(
                    id, method, path, request.remotePeer().host(), name -> lines(HeaderNames.create(name)));
            int limit = found.route().maxBody() == Route.DEFAULT_BODY ? settings.maxBody() : found.route().maxBody();
            return new Request(line, found.parameters(), Query.parse(query), principal, body(limit));
        }

        private byte[] body(int limit) throws IOException {
            for (String encoding : lines(HeaderNames.CONTENT_ENCODING)) {
                if (!encoding.equalsIgnoreCase("identity")) {
                    throw encoded();
                }
            }
            if (headers.contentLength().orElse(0) > limit) {
                throw tooLarge(limit);
            }
            if (!request.content().hasEntity()) {
                bodyRead = true;
                return NOTHING;
            }
            try (InputStream in = request.content().inputStream()) {
                byte[] body = in.readNBytes(limit + 1);
                if (body.length > limit) {
                    throw tooLarge(limit);
                }
                bodyRead = true;
                return body;
            }
        }

        void send(Answer answer, boolean close) {
            response.status(Status.create(answer.status()));
            for (Answer.Field field : answer.fields()) {
                response.headers().add(HeaderValues.create(field.name(), field.value()));
            }
            response.headers().set(NO_SNIFF);
            if (close || !bodyRead && !skippable()) {
                response.headers().set(HeaderValues.CONNECTION_CLOSE);
            }
            Answer.Stream stream = answer.stream();
            if (stream != null && !method.equals("HEAD")) {
                stream(stream);
            } else if (method.equals("HEAD")) {
                // The length is that of the body a GET would have got; the body itself must not follow.
                response.headers().contentLength(answer.body().length);
                response.send(NOTHING);
            } else {
                response.send(answer.body());
            }
        }

        private void stream(Answer.Stream stream) {
            try (OutputStream out = response.outputStream()) {
                stream.writeTo(out);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }

        private boolean skippable() {
            return !headers.contains(HeaderNames.TRANSFER_ENCODING)
                    && !headers.contains(HeaderNames.EXPECT)
                    && headers.contentLength().orElse(0) <= CHEAP_TO_SKIP;
        }
    }

    private static SemelException tooLarge(int limit) {
        return new SemelException(
                        ErrorCode.PAYLOAD_TOO_LARGE,
                        "The body is larger than " + limit + " bytes. It was not read, nothing was done; the key is free.",
                        "Send less, or put the data elsewhere and send its address.")
                .with("limit", limit);
    }

    private static SemelException encoded() {
        return new SemelException(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                "The body has a Content-Encoding. It was not read, nothing was done; the key is free.",
                "Send the body as it is, without compression.");
    }
}
