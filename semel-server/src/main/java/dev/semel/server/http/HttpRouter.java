package dev.semel.server.http;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Literal segments match byte for byte before decoding: no second spelling of a path can bypass an access rule. */
public final class HttpRouter {
    private static final int MAX_SEGMENTS = 16;

    private final PathNode root = new PathNode();
    private final List<HttpRoute> all = new ArrayList<>();
    private int largestBody;
    private @Nullable HttpRouteHandler notFoundHandler;

    public HttpRouter add(String method, String pattern, TokenScope scope, HttpRouteHandler handler) {
        return add(new HttpRoute(method, pattern, scope, handler));
    }

    public HttpRouter add(HttpRoute route) {
        PathNode node = root;
        for (String segment : segments(route.pattern())) {
            int brace = segment.indexOf('{');
            node = brace == 0
                    ? node.parameter()
                    : brace < 0 ? node.literal(segment) : node.prefix(segment.substring(0, brace));
        }
        if (node.routes.putIfAbsent(route.method(), new RouteTarget(route, names(route.pattern()))) != null) {
            throw new IllegalArgumentException(route.method() + " " + route.pattern() + " is registered twice");
        }
        all.add(route);
        largestBody = Math.max(largestBody, route.maxBody());
        return this;
    }

    /** Sets the handler that shows a page to browsers if no route matches. */
    public HttpRouter notFoundHandler(HttpRouteHandler page) {
        notFoundHandler = page;
        return this;
    }

    @Nullable
    public HttpRouteHandler notFoundHandler() {
        return notFoundHandler;
    }

    /** Every route, in the order of registration. */
    public List<HttpRoute> routes() {
        return List.copyOf(all);
    }

    /** The largest body limit that any route sets for itself. */
    public int largestBody() {
        return largestBody;
    }

    /** Looks up a path. {@link RouteMatch#parameters} reports decoding errors of path parameters. */
    public LookupResult find(String method, String rawPath) {
        String[] raw = split(rawPath);
        if (raw == null) {
            return LookupResult.NOTHING;
        }
        RouteTarget target = root.find(method, raw, 0);
        if (target == null && method.equals("HEAD")) {
            target = root.find("GET", raw, 0);
        }
        if (target != null) {
            return new RouteMatch(target, raw);
        }
        Map<String, HttpRoute> others = new TreeMap<>();
        root.collect(raw, 0, others);
        return others.isEmpty() ? LookupResult.NOTHING : new MethodMismatch(others);
    }

    /** The segments of a path; null if it cannot match: no leading slash, an empty segment, too many segments. */
    private static String @Nullable [] split(String path) {
        if (path.isEmpty() || path.charAt(0) != '/') {
            return null;
        }
        if (path.length() == 1) {
            return new String[0];
        }
        String[] segments = path.substring(1).split("/", -1);
        return segments.length > MAX_SEGMENTS || Arrays.asList(segments).contains("") ? null : segments;
    }

    private static String[] segments(String pattern) {
        String[] segments = split(pattern);
        if (segments == null) {
            throw new IllegalArgumentException("Pattern " + pattern + " is not /a/{b}/c");
        }
        return segments;
    }

    private static List<@Nullable String> names(String pattern) {
        List<@Nullable String> names = new ArrayList<>();
        for (String segment : segments(pattern)) {
            int brace = segment.indexOf('{');
            names.add(brace < 0 ? null : segment.substring(brace + 1, segment.length() - 1));
        }
        return names;
    }

    public sealed interface LookupResult permits NoRoute, MethodMismatch, RouteMatch {
        LookupResult NOTHING = new NoRoute();
    }

    public record NoRoute() implements LookupResult {}

    /** The path has routes, but only for other methods. */
    public record MethodMismatch(Map<String, HttpRoute> routes) implements LookupResult {
        public String allowHeader() {
            TreeSet<String> methods = new TreeSet<>(routes.keySet());
            methods.add("OPTIONS");
            if (methods.contains("GET")) {
                methods.add("HEAD");
            }
            return String.join(", ", methods);
        }

        public boolean isOpen() {
            return routes.values().stream().allMatch(route -> route.scope() == TokenScope.OPEN);
        }
    }

    public record RouteMatch(RouteTarget target, String[] raw) implements LookupResult {
        public HttpRoute route() {
            return target.route;
        }

        /** Decodes the path parameters. A malformed one is a 400, which only authorized callers see. */
        public Map<String, String> parameters() {
            Map<String, String> out = HashMap.newHashMap(2);
            for (int i = 0; i < raw.length; i++) {
                String name = target.names.get(i);
                if (name != null) {
                    out.put(name, PercentDecoder.decodePathSegment(raw[i]));
                }
            }
            return out;
        }
    }

    private record RouteTarget(HttpRoute route, List<@Nullable String> names) {}

    /** A node of the routing tree. Changes only while routes are registered. */
    private static final class PathNode {
        private final Map<String, PathNode> literals = new HashMap<>();
        private final Map<String, RouteTarget> routes = new HashMap<>();
        private final Map<String, PathNode> prefixes = new TreeMap<>();
        private @Nullable PathNode parameter;

        PathNode literal(String segment) {
            return literals.computeIfAbsent(segment, _ -> new PathNode());
        }

        /** A segment that begins with this text; the whole segment is the parameter. */
        PathNode prefix(String start) {
            return prefixes.computeIfAbsent(start, _ -> new PathNode());
        }

        PathNode parameter() {
            PathNode node = parameter == null ? new PathNode() : parameter;
            parameter = node;
            return node;
        }

        /** Prefers a literal to a prefix and a prefix to a parameter; tries the next one if it has no such method. */
        @Nullable
        RouteTarget find(String method, String[] raw, int at) {
            if (at == raw.length) {
                return routes.get(method);
            }
            PathNode literal = literals.get(raw[at]);
            RouteTarget target = literal == null ? null : literal.find(method, raw, at + 1);
            for (Map.Entry<String, PathNode> prefix : prefixes.entrySet()) {
                if (target == null && raw[at].startsWith(prefix.getKey())) {
                    target = prefix.getValue().find(method, raw, at + 1);
                }
            }
            return target != null || parameter == null ? target : parameter.find(method, raw, at + 1);
        }

        void collect(String[] raw, int at, Map<String, HttpRoute> into) {
            if (at == raw.length) {
                routes.forEach((method, target) -> into.putIfAbsent(method, target.route));
                return;
            }
            PathNode literal = literals.get(raw[at]);
            if (literal != null) {
                literal.collect(raw, at + 1, into);
            }
            prefixes.forEach((start, node) -> {
                if (raw[at].startsWith(start)) {
                    node.collect(raw, at + 1, into);
                }
            });
            if (parameter != null) {
                parameter.collect(raw, at + 1, into);
            }
        }
    }
}
