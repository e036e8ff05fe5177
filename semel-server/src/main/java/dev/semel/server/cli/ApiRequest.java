package dev.semel.server.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One request to the server's API; {@code path} is already URL-encoded. */
record ApiRequest(String method, String path, Map<String, String> headers, String body, Duration timeout) {
    private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(30);

    ApiRequest {
        headers = Map.copyOf(headers);
    }

    static ApiRequest get(String path) {
        return new ApiRequest("GET", path, Map.of(), "", USUAL_TIMEOUT);
    }

    static ApiRequest delete(String path) {
        return new ApiRequest("DELETE", path, Map.of(), "", USUAL_TIMEOUT);
    }

    static ApiRequest post(String path, String json) {
        return new ApiRequest("POST", path, Map.of("Content-Type", "application/json"), json, USUAL_TIMEOUT);
    }

    static ApiRequest put(String path, String contentType, String body) {
        return new ApiRequest("PUT", path, Map.of("Content-Type", contentType), body, USUAL_TIMEOUT);
    }

    ApiRequest withHeader(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new ApiRequest(method, path, more, body, timeout);
    }

    ApiRequest withTimeout(Duration limit) {
        return new ApiRequest(method, path, headers, body, limit);
    }

    /** Adds a query parameter, unless its value is empty. */
    ApiRequest withQuery(String name, String value) {
        if (value.isEmpty()) {
            return this;
        }
        String joined = path + (path.indexOf('?') < 0 ? '?' : '&') + name + '=' + encode(value);
        return new ApiRequest(method, joined, headers, body, timeout);
    }

    /** Joins URL-encoded segments; a key with slashes, spaces or dots stays one segment. */
    static String path(String... segments) {
        return Stream.of(segments).map(ApiRequest::segment).collect(Collectors.joining("/", "/", ""));
    }

    private static String segment(String text) {
        return text.equals(".") || text.equals("..") ? text.replace(".", "%2E") : encode(text);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
