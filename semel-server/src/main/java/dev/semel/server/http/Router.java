package dev.semel.server.http;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the route for a method and raw path. Literal segments match byte for byte before any decoding, so that no
 * second spelling of a path can bypass an access rule.
 */
public final class Router {
    private static final int MAX_SEGMENTS = 16;

    private final PathNode root = new PathNode();
    private final List<Route> all = new ArrayList<>();
    private int largestBody;
    private @Nullable RouteHandler notFoundHandler;

    public Router add(String method, String pattern, TokenScope scope, RouteHandler handler) {
        return add(new Route(method, pattern, scope, handler));
    }

    public Router add(Route route) {
        PathNode node = root;
        for (String segment : segments(route.pattern())) {
            node = segment.startsWith("{") ? node.parameter() : node.literal(segment);
        }
        if (node.routes.putIfAbsent(route.method(), new RouteTarget(route, names(route.pattern()))) != null) {
            throw new IllegalArgumentException(route.method() + " " + route.pattern() + " is registered twice");
        }
        all.add(route);
        largestBody = Math.max(largestBody, route.maxBody());
        return this;
    }

    /** Sets the handler that shows a page to browsers if no route matches. */
    public Router notFoundHandler(RouteHandler page) {
        notFoundHandler = page;
        return this;
    }

    @Nullable
    RouteHandler notFoundHandler() {
        return notFoundHandler;
    }

    /** Every route, in the order of registration. */
    public List<Route> routes() {
        return List.copyOf(all);
    }

    /** The largest body limit that any route sets for itself. */
    int largestBody() {
        return largestBody;
    }

    /** Looks up a path. {@link RouteMatch#parameters} reports decoding errors of path parameters. */
    LookupResult find(String method, String rawPath) {
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
        Map<String, Route> others = new TreeMap<>();
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
        int count = 1;
        for (int i = 1; i < path.length(); i++) {
            if (path.charAt(i) == '/') {
                count++;
            }
        }
        if (count > MAX_SEGMENTS) {
            return null;
        }
        String[] out = new String[count];
        int from = 1;
        for (int i = 0; i < count; i++) {
            int to = path.indexOf('/', from);
            out[i] = path.substring(from, to < 0 ? path.length() : to);
            if (out[i].isEmpty()) {
                return null;
            }
            from = to + 1;
        }
        return out;
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
            names.add(segment.startsWith("{") ? segment.substring(1, segment.length() - 1) : null);
        }
        return names;
    }

    /** The result of looking up a method and path. */
    sealed interface LookupResult permits NoRoute, MethodMismatch, RouteMatch {
        LookupResult NOTHING = new NoRoute();
    }

    /** No route has this path. */
    record NoRoute() implements LookupResult {}

    /** The path has routes, but only for other methods. */
    record MethodMismatch(Map<String, Route> routes) implements LookupResult {
        String allowHeader() {
            TreeSet<String> methods = new TreeSet<>(routes.keySet());
            methods.add("OPTIONS");
            if (methods.contains("GET")) {
                methods.add("HEAD");
            }
            return String.join(", ", methods);
        }

        boolean isOpen() {
            return routes.values().stream().allMatch(route -> route.scope() == TokenScope.OPEN);
        }
    }

    /** The route that matches, with the raw path segments. */
    record RouteMatch(RouteTarget target, String[] raw) implements LookupResult {
        Route route() {
            return target.route;
        }

        /** Decodes the path parameters. A malformed one is a 400, which only authorized callers see. */
        Map<String, String> parameters() {
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

    private record RouteTarget(Route route, List<@Nullable String> names) {}

    /** A node of the routing tree. Changes only while routes are registered. */
    private static final class PathNode {
        private final Map<String, PathNode> literals = new HashMap<>();
        private final Map<String, RouteTarget> routes = new HashMap<>();
        private @Nullable PathNode parameter;

        PathNode literal(String segment) {
            return literals.computeIfAbsent(segment, _ -> new PathNode());
        }

        PathNode parameter() {
            PathNode existing = parameter;
            if (existing == null) {
                existing = new PathNode();
                parameter = existing;
            }
            return existing;
        }

        /** Prefers a literal to a parameter; tries the parameter if the literal has no such method. */
        @Nullable
        RouteTarget find(String method, String[] raw, int at) {
            if (at == raw.length) {
                return routes.get(method);
            }
            PathNode literal = literals.get(raw[at]);
            RouteTarget target = literal == null ? null : literal.find(method, raw, at + 1);
            return target != null || parameter == null ? target : parameter.find(method, raw, at + 1);
        }

        void collect(String[] raw, int at, Map<String, Route> into) {
            if (at == raw.length) {
                routes.forEach((method, target) -> into.putIfAbsent(method, target.route));
                return;
            }
            PathNode literal = literals.get(raw[at]);
            if (literal != null) {
                literal.collect(raw, at + 1, into);
            }
            if (parameter != null) {
                parameter.collect(raw, at + 1, into);
            }
        }
    }
}
