package dev.semel.server.cli.command;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One request to the server's API; {@code path} is already URL-encoded. */
public record CliApiRequest(String method, String path, Map<String, String> headers, String body, Duration timeout) {
    private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(30);

    public CliApiRequest {
        headers = Map.copyOf(headers);
    }

    /** @param path URL-encoded */
    public static CliApiRequest of(String method, String path) {
        return new CliApiRequest(method, path, Map.of(), "", USUAL_TIMEOUT);
    }

    public static CliApiRequest get(String... segments) {
        return of("GET", path(segments));
    }

    public static CliApiRequest delete(String... segments) {
        return of("DELETE", path(segments));
    }

    /** A POST without a body. */
    public static CliApiRequest post(String... segments) {
        return of("POST", path(segments)).withJson("");
    }

    public static CliApiRequest put(String... segments) {
        return of("PUT", path(segments));
    }

    public CliApiRequest withJson(JsonNode body) {
        return withJson(TerminalJsonFormatter.compactForRequest(body));
    }

    public CliApiRequest withJson(String body) {
        return withBody("application/json", body);
    }

    public CliApiRequest withBody(String contentType, String text) {
        return new CliApiRequest(method, path, headers, text, timeout).withHeader("Content-Type", contentType);
    }

    public CliApiRequest withHeader(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new CliApiRequest(method, path, more, body, timeout);
    }

    public CliApiRequest withTimeout(Duration limit) {
        return new CliApiRequest(method, path, headers, body, limit);
    }

    /** Changes a document only in this version, 0 for a new document; null for any version. */
    public CliApiRequest withExpectedVersion(@Nullable Integer version) {
        return version == null
                ? this
                : version == 0 ? withHeader("If-None-Match", "*") : withHeader("If-Match", "\"" + version + "\"");
    }

    /** Adds a query parameter, unless its value is empty. */
    public CliApiRequest withQuery(String name, String value) {
        if (value.isEmpty()) {
            return this;
        }
        String joined = path + (path.indexOf('?') < 0 ? '?' : '&') + name + '=' + encode(value);
        return new CliApiRequest(method, joined, headers, body, timeout);
    }

    public CliApiRequest withFlag(String name, boolean set) {
        return withQuery(name, set ? "true" : "");
    }

    /** Joins URL-encoded segments; a key with slashes, spaces or dots stays one segment. */
    static String path(String... segments) {
        return Stream.of(segments).map(CliApiRequest::segment).collect(Collectors.joining("/", "/", ""));
    }

    private static String segment(String text) {
        return text.equals(".") || text.equals("..") ? text.replace(".", "%2E") : encode(text);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
