package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An HTTP request after authentication, with its body read within the limits. */
public final class ServerHttpRequest {
    private static final byte[] NO_BODY = new byte[0];

    private final RequestHead line;
    private final Map<String, String> parameters;
    private final UrlQueryParameters query;
    private byte[] body;
    private BodyMemory bodyMemory = BodyMemory.NONE;

    public ServerHttpRequest(RequestHead line, Map<String, String> parameters, UrlQueryParameters query, byte[] body) {
        this.line = line;
        this.parameters = parameters;
        this.query = query;
        this.body = body;
    }

    /** The memory that the server reserves for a body until the request has its response. */
    public interface BodyMemory extends AutoCloseable {
        BodyMemory NONE = new BodyMemory() {
            @Override
            public void reserveParsed() {}

            @Override
            public void close() {}
        };

        /** Waits until the parsed body fits into memory, too; throws `overloaded` after some seconds. */
        void reserveParsed();

        /** Repeated calls have no effect. */
        @Override
        void close();
    }

    /** The parts of a request that are known before its path is decoded and its body is read. */
    public record RequestHead(
            UUID id,
            String method,
            String rawPath,
            @Nullable Principal principal,
            Supplier<String> remoteAddress,
            Function<String, List<String>> headers,
            Supplier<List<String>> headerNames) {}

    public UUID id() {
        return line.id;
    }

    public String method() {
        return line.method;
    }

    /** The path as received, not decoded. For logs and links, not for decisions. */
    public String rawPath() {
        return line.rawPath;
    }

    /** The query as received, without the question mark. For signatures that cover it. */
    public String rawQuery() {
        return query.raw();
    }

    /** A path parameter of the route's pattern. */
    public String parameter(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("The route has no parameter " + name);
        }
        return value;
    }

    /** The only value of a query parameter, or null. A repeated parameter is a 400. */
    public @Nullable String query(String name) {
        return single(queryValues(name), "Query parameter", name);
    }

    public List<String> queryValues(String name) {
        return query.values(name);
    }

    public List<String> queryNames() {
        return query.names();
    }

    /** Every line of a header without surrounding white space. Not split at commas. */
    public List<String> headerLines(String name) {
        return line.headers.apply(name);
    }

    /** Every header whose name has this prefix, by lower-case name. */
    public Map<String, List<String>> headersWithPrefix(String prefix) {
        Map<String, List<String>> found = new TreeMap<>();
        for (String name : line.headerNames.get()) {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.startsWith(prefix)) {
                found.put(lower, headerLines(name));
            }
        }
        return found;
    }

    /** The only line of a header, or null. A repeated header is a 400. */
    public @Nullable String header(String name) {
        return single(headerLines(name), "Header", name);
    }

    /** Empty if the request has no body. Not a copy: do not change it. */
    public byte[] body() {
        return body;
    }

    /** Sets the reserved memory of the body. */
    public ServerHttpRequest withBodyMemory(BodyMemory memory) {
        bodyMemory = memory;
        return this;
    }

    /** Waits until the parsed body fits into memory. The server does so before a handler of an authenticated caller. */
    public void reserveParsedBody() {
        bodyMemory.reserveParsed();
    }

    /** Frees the memory of the body, for a handler that waits for long and no longer needs it. */
    public void releaseBody() {
        body = NO_BODY;
        bodyMemory.close();
    }

    /** The authenticated caller; null on an open route. */
    public @Nullable Principal caller() {
        return line.principal;
    }

    /** The authenticated caller of a route that requires a scope. */
    public Principal principal() {
        Principal authenticated = line.principal;
        if (authenticated == null) {
            throw new IllegalStateException("An open route has no principal");
        }
        return authenticated;
    }

    /** The client's address: of the connection, or as reported by a trusted proxy ({@link TrustedProxies}). */
    public String remoteAddress() {
        return line.remoteAddress.get();
    }

    private static @Nullable String single(List<String> values, String what, String name) {
        if (values.size() > 1) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    what + " " + name + " was sent " + values.size()
                            + " times, but only once is allowed. Nothing was changed.",
                    "Send it once.");
        }
        return values.isEmpty() ? null : values.getFirst();
    }
}
