package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/** Scopes and header checks apply as for an external client, so the dashboard can do only what the API allows. */
public final class InProcessApiClient {
    private final HttpRouter router;

    public InProcessApiClient(HttpRouter router) {
        this.router = router;
    }

    /**
     * One API call.
     *
     * @param path encoded, as {@link #path} returns it
     * @param query encoded, without the question mark; may be empty
     * @param headers by lower-case name
     */
    public record ApiCall(String method, String path, String query, Map<String, String> headers, byte[] body) {
        private static final byte[] NOTHING = new byte[0];

        public static ApiCall get(String path, String query) {
            return new ApiCall("GET", path, query, Map.of(), NOTHING);
        }

        /** A change that the API makes once per key. */
        public static ApiCall post(String path, byte[] json, String key) {
            return new ApiCall(
                    "POST", path, "", Map.of("content-type", "application/json", "idempotency-key", key), json);
        }

        public ApiCall withHeader(String name, String value) {
            Map<String, String> more = new TreeMap<>(headers);
            more.put(name.toLowerCase(Locale.ROOT), value);
            return new ApiCall(method, path, query, more, body);
        }

        private List<String> lines(String name) {
            String value = headers.get(name.toLowerCase(Locale.ROOT));
            return value == null ? List.of() : List.of(value);
        }
    }

    /** A path of these segments, each encoded. */
    public static String path(String... segments) {
        return Arrays.stream(segments).map(InProcessApiClient::encode).collect(Collectors.joining("/", "/", ""));
    }

    /** Percent-encodes one part of a URL. */
    public static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Whether the route exists and this principal has its scope. */
    public boolean isAllowed(Principal who, String method, String path) {
        return router.find(method, path) instanceof HttpRouter.RouteMatch found
                && who.hasScope(found.route().scope());
    }

    /** Calls the route. If it rejects the call, returns the problem response. */
    public ServerHttpResponse call(Principal who, ApiCall call, UUID id) throws Exception {
        try {
            if (!(router.find(call.method(), call.path()) instanceof HttpRouter.RouteMatch found)) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "The API has no resource at this address. Nothing was changed.",
                        "Go back and choose another link.");
            }
            HttpRoute route = found.route();
            RequestAuthorizer.requireScope(who, route.scope());
            route.headerCheck().check(call::lines);
            ServerHttpRequest.RequestHead line = new ServerHttpRequest.RequestHead(
                    id,
                    call.method(),
                    call.path(),
                    who,
                    () -> "inside",
                    call::lines,
                    () -> List.copyOf(call.headers().keySet()));
            return route.handler()
                    .handle(new ServerHttpRequest(
                            line, found.parameters(), UrlQueryParameters.parse(call.query()), call.body()));
        } catch (SemelException e) {
            return HttpProblemResponseMapper.toResponse(e, id);
        }
    }
}
