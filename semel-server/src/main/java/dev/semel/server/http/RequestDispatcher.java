package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Processes each HTTP request: finds the route, authenticates, checks scope and headers, reads the body, calls the
 * handler. A request that fails one check learns nothing about the later ones.
 */
final class RequestDispatcher {
    /** The route name that observers get when no route matched. */
    static final String NO_ROUTE = "-";

    private final HttpServerSettings settings;
    private final Router router;
    private final RequestAuthorizer credentials;
    private final RequestObserver observer;
    private final RequestIdGenerator ids = new RequestIdGenerator();
    private final InFlightRequests inFlight = new InFlightRequests();
    private final BodyMemoryLimit bodies = BodyMemoryLimit.ofHeap();

    RequestDispatcher(
            HttpServerSettings settings, Router router, Authenticator authenticator, RequestObserver observer) {
        this.settings = settings;
        this.router = router;
        this.credentials = new RequestAuthorizer(authenticator);
        this.observer = observer;
    }

    RequestIdGenerator ids() {
        return ids;
    }

    InFlightRequests inFlight() {
        return inFlight;
    }

    void serve(ServerRequest request, ServerResponse response) {
        long start = System.nanoTime();
        HelidonExchange exchange = new HelidonExchange(ids.next(), request, response, settings.proxies());
        boolean open = inFlight.begin();
        int status = 0;
        try {
            if (!open) {
                exchange.closeConnectionAfterResponse();
            }
            HttpResponse answer = open
                    ? answer(exchange)
                    : ProblemResponses.toResponse(HttpServerErrors.shuttingDown(), exchange.id());
            status = answer.status();
            exchange.send(answer);
        } finally {
            inFlight.end();
            if (status != 0) {
                observer.onResponse(exchange.route(), status, System.nanoTime() - start);
            }
        }
    }

    private HttpResponse answer(HelidonExchange exchange) {
        try {
            return decide(exchange);
        } catch (CloseConnectionException e) {
            // The client disconnected, so no response is possible and nothing failed here.
            throw e;
        } catch (SemelException e) {
            if (e.code() == ErrorCode.INTERNAL) {
                observer.onError(exchange.route(), exchange.id(), e);
            }
            return ProblemResponses.toResponse(e, exchange.id());
        } catch (Throwable e) {
            observer.onError(exchange.route(), exchange.id(), e);
            return ProblemResponses.toResponse(HttpServerErrors.internal(), exchange.id());
        }
    }

    private HttpResponse decide(HelidonExchange exchange) throws Exception {
        Router.LookupResult lookup = router.find(exchange.method(), exchange.path());
        Principal principal = authenticate(exchange, lookup);
        return switch (lookup) {
            case Router.NoRoute _ -> noRoute(exchange);
            case Router.MethodMismatch others -> otherMethod(exchange, others.allowHeader());
            case Router.RouteMatch found -> {
                Route route = found.route();
                exchange.recordRoute(route);
                if (principal != null) {
                    RequestAuthorizer.requireScope(principal, route.scope());
                }
                route.headerCheck().check(exchange::headerLines);
                int limit = route.maxBody() == Route.DEFAULT_BODY ? settings.maxBody() : route.maxBody();
                long weight = exchange.expectedBodyBytes(limit);
                if (!bodies.tryReserve(weight)) {
                    throw HttpServerErrors.bodyMemoryFull();
                }
                try {
                    yield route.handler().handle(exchange.read(found.parameters(), principal, limit));
                } finally {
                    bodies.release(weight);
                }
            }
        };
    }

    /** Browsers get the dashboard's not-found page, if there is one; other clients get the problem document. */
    private HttpResponse noRoute(HelidonExchange exchange) throws Exception {
        RouteHandler page = router.notFoundHandler();
        boolean browser = exchange.method().equals("GET")
                && !isApi(exchange)
                && exchange.headerLines(HeaderNames.ACCEPT).stream().anyMatch(line -> line.contains("text/html"));
        if (page == null || !browser) {
            throw HttpServerErrors.notFound();
        }
        return page.handle(exchange.read(Map.of(), null, 0));
    }

    private static boolean isApi(HelidonExchange exchange) {
        return exchange.path().equals("/v1") || exchange.path().startsWith("/v1/");
    }

    private static HttpResponse otherMethod(HelidonExchange exchange, String allow) {
        HttpResponse answer = exchange.method().equals("OPTIONS")
                ? HttpResponse.empty(204)
                : ProblemResponses.toResponse(
                        HttpServerErrors.methodNotAllowed(exchange.method(), allow), exchange.id());
        return answer.with("Allow", allow);
    }

    /**
     * Every path under /v1 requires a token, even a path that does not exist. Only routes declared open are served
     * without one.
     */
    private @Nullable Principal authenticate(HelidonExchange exchange, Router.LookupResult lookup) {
        boolean api = isApi(exchange);
        boolean open = switch (lookup) {
            case Router.RouteMatch found -> found.route().scope() == TokenScope.OPEN;
            case Router.MethodMismatch others -> !api && others.isOpen();
            case Router.NoRoute _ -> !api;
        };
        return open ? null : credentials.authenticate(exchange.headerLines(HeaderNames.AUTHORIZATION));
    }
}
