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

/** A request whose credential was checked and whose body was read, both within their bounds. */
public final class Request {
    private final Line line;
    private final Map<String, String> parameters;
    private final Query query;
    private final byte[] body;

    Request(Line line, Map<String, String> parameters, Query query, byte[] body) {
        this.line = line;
        this.parameters = parameters;
        this.query = query;
        this.body = body;
    }

    /** What is known of a request before its address is decoded and its body read. */
    record Line(
            UUID id,
            String method,
            String rawPath,
            @Nullable Principal principal,
            Supplier<String> remote,
            Function<String, List<String>> headers,
            Supplier<List<String>> headerNames) {}

    public UUID id() {
        return line.id;
    }

    public String method() {
        return line.method;
    }

    /** The path as it was sent, undecoded. For logs and links, not for decisions. */
    public String rawPath() {
        return line.rawPath;
    }

    /** A parameter that the route's pattern names. */
    public String parameter(String name) {
        String value = parameters.get(name);
        if (value == null) {
            throw new IllegalArgumentException("The route has no parameter " + name);
        }
        return value;
    }

    /** The one value of a query parameter, or null; a repeated one is a 400. */
    public @Nullable String query(String name) {
        return single(queryValues(name), "Query parameter", name);
    }

    public List<String> queryValues(String name) {
        return query.values(name);
    }

    public List<String> queryNames() {
        return query.names();
    }

    /** Every line of a header, as sent but for white space at the ends. Commas do not split. */
    public List<String> headerLines(String name) {
        return line.headers.apply(name);
    }

    /** Every header whose name begins so, by its name in lower case. */
    public Map<String, List<String>> headersLike(String prefix) {
        Map<String, List<String>> found = new TreeMap<>();
        for (String name : line.headerNames.get()) {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.startsWith(prefix)) {
                found.put(lower, headerLines(name));
            }
        }
        return found;
    }

    /** The one line of a header, or null; a repeated one is a 400. */
    public @Nullable String header(String name) {
        return single(headerLines(name), "Header", name);
    }

    /** Empty where no body was sent. Not a copy: do not change it. */
    public byte[] body() {
        return body;
    }

    /** Who asks; null on an open route. */
    public @Nullable Principal caller() {
        return line.principal;
    }

    /** Who asks, on a route with a scope. */
    public Principal principal() {
        Principal known = line.principal;
        if (known == null) {
            throw new IllegalStateException("An open route has no principal");
        }
        return known;
    }

    /** Where it comes from: the peer's end of the connection, or what a proxy says whose word is taken ({@link Proxies}). */
    public String remoteAddress() {
        return line.remote.get();
    }

    private static @Nullable String single(List<String> values, String what, String name) {
        if (values.size() > 1) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    what + " " + name + " was sent " + values.size() + " times. Nothing was done.",
                    "Send it once.");
        }
        return values.isEmpty() ? null : values.getFirst();
    }
}
