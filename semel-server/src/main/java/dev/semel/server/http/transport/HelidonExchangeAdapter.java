package dev.semel.server.http.transport;

import dev.semel.error.SemelException;
import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TrustedProxies;
import dev.semel.server.http.UrlQueryParameters;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.RequestException;
import io.helidon.http.ServerRequestHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Adapts one Helidon request and response to this package's types. One thread uses it, for one request. */
final class HelidonExchangeAdapter {
    static final Header NO_SNIFF = HeaderValues.createCached("X-Content-Type-Options", "nosniff");
    private static final byte[] NOTHING = new byte[0];
    /** An unread body up to this size is discarded after the response, so that the connection stays open. */
    private static final int CHEAP_TO_SKIP = 64 << 10;

    private final UUID id;
    private final ServerRequest request;
    private final ServerResponse response;
    private final ServerRequestHeaders headers;
    private final TrustedProxies proxies;
    private final String method;
    private final String path;
    private String route = ServerHttpRequestDispatcher.NO_ROUTE;
    private boolean bodyRead;
    private boolean closing;

    HelidonExchangeAdapter(UUID id, ServerRequest request, ServerResponse response, TrustedProxies proxies) {
        this.id = id;
        this.request = request;
        this.response = response;
        this.headers = request.headers();
        this.proxies = proxies;
        this.method = request.prologue().method().text();
        this.path = request.prologue().uriPath().rawPath();
        this.closing = headers.contains(HeaderNames.CONNECTION) && headers.containsToken(HeaderValues.CONNECTION_CLOSE);
    }

    UUID id() {
        return id;
    }

    String method() {
        return method;
    }

    String path() {
        return path;
    }

    String route() {
        return route;
    }

    void closeConnectionAfterResponse() {
        closing = true;
    }

    List<String> headerLines(HeaderName name) {
        return headers.contains(name) ? headers.get(name).allValues() : List.of();
    }

    List<String> headerLines(String name) {
        return headerLines(HeaderNames.create(name));
    }

    private List<String> names() {
        return headers.stream().map(header -> header.headerName().lowerCase()).toList();
    }

    void recordRoute(HttpRoute found) {
        route = found.pattern();
    }

    ServerHttpRequest read(Map<String, String> parameters, @Nullable Principal principal, int limit) {
        ServerHttpRequest.RequestHead line = new ServerHttpRequest.RequestHead(
                id, method, path, principal, this::client, this::headerLines, this::names);
        UrlQueryParameters query =
                UrlQueryParameters.parse(request.prologue().query().rawValue());
        return new ServerHttpRequest(line, parameters, query, body(limit));
    }

    String client() {
        return proxies.clientAddress(request.remotePeer().host(), headerLines("X-Forwarded-For"));
    }

    boolean hasBody() {
        return request.content().hasEntity();
    }

    private byte[] body(int limit) {
        for (String encoding : headerLines(HeaderNames.CONTENT_ENCODING)) {
            if (!encoding.equalsIgnoreCase("identity")) {
                throw InboundRequestErrorFactory.encodedBody();
            }
        }
        if (headers.contentLength().orElse(0) > limit || limit == 0 && hasBody()) {
            throw InboundRequestErrorFactory.bodyTooLarge(limit);
        }
        if (!hasBody()) {
            bodyRead = true;
            return NOTHING;
        }
        // With a known length the exact buffer is allocated; Helidon would allocate 16 KiB for every request.
        byte[] body = readBody((int) headers.contentLength().orElse(limit));
        if (body.length > limit) {
            throw InboundRequestErrorFactory.bodyTooLarge(limit);
        }
        bodyRead = true;
        return body;
    }

    /** Reads one byte more than allowed, which shows whether the body is too large. */
    private byte[] readBody(int length) {
        // Not closed: closing would read the rest of a body that is too large.
        InputStream in = request.content().inputStream();
        try {
            byte[] body = in.readNBytes(length);
            int more = in.read();
            return more < 0 ? body : Arrays.copyOf(body, body.length + 1);
        } catch (SemelException e) {
            closing = true;
            throw e;
        } catch (RequestException e) {
            closing = true;
            throw e.status().code() == 413
                    ? InboundRequestErrorFactory.bodyTooLarge(length)
                    : HttpRequestSyntaxError.forText(e.getMessage()).toException();
        } catch (IOException | RuntimeException e) {
            throw new CloseConnectionException("The client disconnected before it sent the whole body", e);
        }
    }

    void send(ServerHttpResponse answer) {
        response.status(Status.create(answer.status()));
        for (ServerHttpResponse.HeaderField field : answer.fields()) {
            response.headers().add(HeaderValues.create(field.name(), field.value()));
        }
        response.headers().set(NO_SNIFF);
        boolean close = closing || !bodyRead && !skippable();
        if (close) {
            response.headers().set(HeaderValues.CONNECTION_CLOSE);
        }
        ServerHttpResponse.BodyWriter stream = answer.stream();
        if (method.equals("HEAD")) {
            // Content-Length is that of the GET response; the body itself must not be sent.
            response.headers().contentLength(answer.body().length);
            response.send(NOTHING);
        } else if (stream != null) {
            write(stream);
        } else {
            response.send(answer.body());
        }
        if (close) {
            // Helidon sends the header but keeps reading: it would parse the rest of the body as the next request.
            throw new CloseConnectionException("The response has Connection: close");
        }
    }

    private void write(ServerHttpResponse.BodyWriter stream) {
        try (OutputStream out = new ChunkOutputStream(response.outputStream())) {
            stream.writeTo(out);
        } catch (IOException e) {
            throw new CloseConnectionException("The client disconnected while the server wrote the response", e);
        }
        // Closing a Helidon stream only marks it as ended; commit sends the last chunk.
        ((RoutingResponse) response).commit();
    }

    /** Ignores a flush without new bytes: an empty chunk would end the body. */
    private static final class ChunkOutputStream extends FilterOutputStream {
        private boolean written;

        ChunkOutputStream(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int b) throws IOException {
            written = true;
            out.write(b);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            written |= length > 0;
            out.write(bytes, from, length);
        }

        @Override
        public void flush() throws IOException {
            if (written) {
                written = false;
                out.flush();
            }
        }
    }

    private boolean skippable() {
        return !headers.contains(HeaderNames.TRANSFER_ENCODING)
                && !headers.contains(HeaderNames.EXPECT)
                && headers.contentLength().orElse(0) <= CHEAP_TO_SKIP;
    }
}
