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
final class Dispatch {
    /** The route name that observers get when no route matched. */
    static final String NO_ROUTE = "-";

    private final Settings settings;
    private final Router router;
    private final Credentials credentials;
    private final Observer observer;
    private final RequestIds ids = new RequestIds();
    private final InFlight inFlight = new InFlight();
    private final BodyRoom bodies = BodyRoom.ofHeap();

    Dispatch(Settings settings, Router router, Authenticator authenticator, Observer observer) {
        this.settings = settings;
        this.router = router;
        this.credentials = new Credentials(authenticator);
        this.observer = observer;
    }

    RequestIds ids() {
        return ids;
    }

    InFlight inFlight() {
        return inFlight;
    }

    void serve(ServerRequest request, ServerResponse response) {
        long start = System.nanoTime();
        Exchange exchange = new Exchange(ids.next(), request, response, settings.proxies());
        boolean open = inFlight.enter();
        int status = 0;
        try {
            if (!open) {
                exchange.closeAfterwards();
            }
            Answer answer = open ? answer(exchange) : Problems.answer(Refusals.shuttingDown(), exchange.id());
            status = answer.status();
            exchange.send(answer);
        } finally {
            inFlight.leave();
            if (status != 0) {
                observer.answered(exchange.route(), status, System.nanoTime() - start);
            }
        }
    }

    private Answer answer(Exchange exchange) {
        try {
            return decide(exchange);
        } catch (CloseConnectionException e) {
            // The client disconnected, so no response is possible and nothing failed here.
            throw e;
        } catch (SemelException e) {
            if (e.code() == ErrorCode.INTERNAL) {
                observer.failed(exchange.route(), exchange.id(), e);
            }
            return Problems.answer(e, exchange.id());
        } catch (Throwable e) {
            observer.failed(exchange.route(), exchange.id(), e);
            return Problems.answer(Refusals.internal(), exchange.id());
        }
    }

    private Answer decide(Exchange exchange) throws Exception {
        Router.Lookup lookup = router.find(exchange.method(), exchange.path());
        Principal principal = authenticate(exchange, lookup);
        return switch (lookup) {
            case Router.Nothing _ -> noRoute(exchange);
            case Router.OtherMethods others -> otherMethod(exchange, others.allow());
            case Router.Found found -> {
                Route route = found.route();
                exchange.take(route);
                if (principal != null) {
                    Credentials.allow(principal, route.scope());
                }
                route.head().check(exchange::lines);
                int limit = route.maxBody() == Route.DEFAULT_BODY ? settings.maxBody() : route.maxBody();
                long weight = exchange.bodyWeight(limit);
                if (!bodies.take(weight)) {
                    throw Refusals.bodiesInWork();
                }
                try {
                    yield route.handler().handle(exchange.read(found.parameters(), principal, limit));
                } finally {
                    bodies.give(weight);
                }
            }
        };
    }

    /** Browsers get the dashboard's not-found page, if there is one; other clients get the problem document. */
    private Answer noRoute(Exchange exchange) throws Exception {
        Handler page = router.nowhere();
        boolean browser = exchange.method().equals("GET")
                && !isApi(exchange)
                && exchange.lines(HeaderNames.ACCEPT).stream().anyMatch(line -> line.contains("text/html"));
        if (page == null || !browser) {
            throw Refusals.notFound();
        }
        return page.handle(exchange.read(Map.of(), null, 0));
    }

    private static boolean isApi(Exchange exchange) {
        return exchange.path().equals("/v1") || exchange.path().startsWith("/v1/");
    }

    private static Answer otherMethod(Exchange exchange, String allow) {
        Answer answer = exchange.method().equals("OPTIONS")
                ? Answer.empty(204)
                : Problems.answer(Refusals.notAllowed(exchange.method(), allow), exchange.id());
        return answer.with("Allow", allow);
    }

    /**
     * Every path under /v1 requires a token, even a path that does not exist. Only routes declared open are served
     * without one.
     */
    private @Nullable Principal authenticate(Exchange exchange, Router.Lookup lookup) {
        boolean api = isApi(exchange);
        boolean open = switch (lookup) {
            case Router.Found found -> found.route().scope() == Scope.OPEN;
            case Router.OtherMethods others -> !api && others.open();
            case Router.Nothing _ -> !api;
        };
        return open ? null : credentials.check(exchange.lines(HeaderNames.AUTHORIZATION));
    }
}
