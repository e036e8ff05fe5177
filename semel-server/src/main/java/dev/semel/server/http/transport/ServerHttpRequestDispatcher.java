package dev.semel.server.http.transport;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.BearerTokenAuthenticator;
import dev.semel.server.http.ClientNetwork;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouteHandler;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.Principal;
import dev.semel.server.http.RequestAuthorizer;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpRequestObserver;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Processes each HTTP request: checks the host, finds the route, authenticates, checks scope and headers, reads the body, calls the
 * handler. A request that fails one check learns nothing about the later ones.
 */
final class ServerHttpRequestDispatcher {
    /** The route name that observers get when no route matched. */
    static final String NO_ROUTE = "-";

    private final HttpServerSettings settings;
    private final HttpRouter router;
    private final RequestAuthorizer credentials;
    private final ServerHttpRequestObserver observer;
    private final RequestIdGenerator ids = new RequestIdGenerator();
    private final InFlightRequestCounter inFlight = new InFlightRequestCounter();
    private final ConcurrentRequestLimit requests;
    private final TotalRequestBodyMemoryLimit bodies = TotalRequestBodyMemoryLimit.ofHeap();
    private final TotalRequestBodyMemoryLimit anonymousBodies = TotalRequestBodyMemoryLimit.ofHeapForAnonymousCallers();

    ServerHttpRequestDispatcher(
            HttpServerSettings settings,
            HttpRouter router,
            BearerTokenAuthenticator authenticator,
            ServerHttpRequestObserver observer) {
        this.settings = settings;
        this.router = router;
        this.requests = new ConcurrentRequestLimit(settings.maxConcurrent());
        this.credentials = new RequestAuthorizer(authenticator);
        this.observer = observer;
    }

    RequestIdGenerator ids() {
        return ids;
    }

    InFlightRequestCounter inFlight() {
        return inFlight;
    }

    void serve(ServerRequest request, ServerResponse response) {
        long start = System.nanoTime();
        HelidonExchangeAdapter exchange = new HelidonExchangeAdapter(ids.next(), request, response, settings.proxies());
        boolean open = inFlight.begin();
        int status = 0;
        try (ConcurrentRequestLimit.RequestPlace place = requests.open()) {
            if (!open) {
                exchange.closeConnectionAfterResponse();
            }
            ServerHttpResponse answer = open
                    ? answer(exchange, place)
                    : HttpProblemResponseMapper.toResponse(InboundRequestErrorFactory.shuttingDown(), exchange.id());
            status = answer.status();
            exchange.send(answer);
        } finally {
            inFlight.end();
            if (status != 0) {
                observer.onResponse(exchange.route(), status, System.nanoTime() - start);
            }
        }
    }

    private ServerHttpResponse answer(HelidonExchangeAdapter exchange, ConcurrentRequestLimit.RequestPlace place) {
        try {
            return decide(exchange, place);
        } catch (CloseConnectionException e) {
            // The client disconnected, so no response is possible and nothing failed here.
            throw e;
        } catch (SemelException e) {
            if (e.code() == ErrorCode.INTERNAL) {
                observer.onError(exchange.route(), exchange.id(), e);
            }
            return HttpProblemResponseMapper.toResponse(e, exchange.id());
        } catch (Throwable e) {
            observer.onError(exchange.route(), exchange.id(), e);
            return HttpProblemResponseMapper.toResponse(InboundRequestErrorFactory.internal(), exchange.id());
        }
    }

    private ServerHttpResponse decide(HelidonExchangeAdapter exchange, ConcurrentRequestLimit.RequestPlace place)
            throws Exception {
        if (!exchange.headerLines(HeaderNames.HOST).stream().allMatch(settings.hosts()::accepts)) {
            throw InboundRequestErrorFactory.hostNotAllowed();
        }
        HttpRouter.LookupResult lookup = router.find(exchange.method(), exchange.path());
        Principal principal = admit(exchange, lookup, place);
        return switch (lookup) {
            case HttpRouter.NoRoute _ -> noRoute(exchange);
            case HttpRouter.MethodMismatch others -> otherMethod(exchange, others.allowHeader());
            case HttpRouter.RouteMatch found -> {
                HttpRoute route = found.route();
                exchange.recordRoute(route);
                if (principal != null) {
                    RequestAuthorizer.requireScope(principal, route.scope());
                }
                route.headerCheck().check(exchange::headerLines);
                Principal caller = caller(exchange, route, principal);
                try (TotalRequestBodyMemoryLimit.BodyMemory memory = bodyMemory(exchange, caller)) {
                    ServerHttpRequest request = read(exchange, found, principal, memory);
                    if (caller != null) {
                        request.reserveParsedBody();
                    }
                    ServerHttpResponse answer = route.handler().handle(request);
                    yield principal == null ? answer : answer.streamWhile(() -> isStillAllowed(exchange, principal));
                }
            }
        };
    }

    /** Authenticates the request and takes its place. Closes the connection of a request without a place. */
    private @Nullable Principal admit(
            HelidonExchangeAdapter exchange,
            HttpRouter.LookupResult lookup,
            ConcurrentRequestLimit.RequestPlace place) {
        if (lookup instanceof HttpRouter.RouteMatch found && found.route().always()) {
            return null;
        }
        try {
            place.takeOfServer();
            Principal principal = authenticate(exchange, lookup);
            takeOfCaller(exchange, lookup, principal, place);
            return principal;
        } catch (SemelException e) {
            if (e.code() == ErrorCode.OVERLOADED) {
                exchange.closeConnectionAfterResponse();
            }
            throw e;
        }
    }

    /** Looks for a session only if the address has no place left, because the lookup costs a query. */
    private static void takeOfCaller(
            HelidonExchangeAdapter exchange,
            HttpRouter.LookupResult lookup,
            @Nullable Principal principal,
            ConcurrentRequestLimit.RequestPlace place) {
        String network = ClientNetwork.of(exchange.client());
        Principal caller = principal;
        if (caller == null) {
            if (place.tryTakeOfAddress(network)) {
                return;
            }
            caller = lookup instanceof HttpRouter.RouteMatch found
                    ? found.route().session().find(exchange::headerLines)
                    : null;
        }
        if (caller == null) {
            place.takeOfAddress(network);
        } else {
            place.takeOfWorkspace(caller.workspaceName());
        }
    }

    /** Whether the token of a stream is still valid and has not changed. Not if an error prevents the check. */
    private boolean isStillAllowed(HelidonExchangeAdapter exchange, Principal principal) {
        try {
            Principal now = credentials.authenticate(exchange.headerLines(HeaderNames.AUTHORIZATION));
            return now.tokenId().equals(principal.tokenId()) && now.scopes().equals(principal.scopes());
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** Who sends the body: the principal, or on an open route the user of a session. */
    private static @Nullable Principal caller(
            HelidonExchangeAdapter exchange, HttpRoute route, @Nullable Principal principal) {
        return principal == null && exchange.hasBody() ? route.session().find(exchange::headerLines) : principal;
    }

    /** Anybody can send bodies to open routes, so these have a small memory limit of their own. */
    private TotalRequestBodyMemoryLimit.BodyMemory bodyMemory(
            HelidonExchangeAdapter exchange, @Nullable Principal caller) {
        return caller == null
                ? anonymousBodies.open(ClientNetwork.of(exchange.client()))
                : bodies.open("workspace " + caller.workspace());
    }

    private ServerHttpRequest read(
            HelidonExchangeAdapter exchange,
            HttpRouter.RouteMatch found,
            @Nullable Principal principal,
            TotalRequestBodyMemoryLimit.BodyMemory memory) {
        int maxBody = found.route().maxBody();
        DeadlineServerConnection connection = DeadlineServerConnection.CURRENT.get();
        connection.countBody(memory);
        try {
            return exchange.read(
                            found.parameters(),
                            principal,
                            maxBody == HttpRoute.DEFAULT_BODY ? settings.maxBody() : maxBody)
                    .withBodyMemory(memory);
        } finally {
            connection.countNoBody();
        }
    }

    /** Browsers get the dashboard's not-found page, if there is one; other clients get the problem document. */
    private ServerHttpResponse noRoute(HelidonExchangeAdapter exchange) throws Exception {
        HttpRouteHandler page = router.notFoundHandler();
        boolean browser = exchange.method().equals("GET")
                && !isApi(exchange)
                && exchange.headerLines(HeaderNames.ACCEPT).stream().anyMatch(line -> line.contains("text/html"));
        if (page == null || !browser) {
            throw InboundRequestErrorFactory.notFound();
        }
        return page.handle(exchange.read(Map.of(), null, 0));
    }

    private static boolean isApi(HelidonExchangeAdapter exchange) {
        return exchange.path().equals("/v1") || exchange.path().startsWith("/v1/");
    }

    private static ServerHttpResponse otherMethod(HelidonExchangeAdapter exchange, String allow) {
        ServerHttpResponse answer = exchange.method().equals("OPTIONS")
                ? ServerHttpResponse.empty(204)
                : HttpProblemResponseMapper.toResponse(
                        InboundRequestErrorFactory.methodNotAllowed(exchange.method(), allow), exchange.id());
        return answer.with("Allow", allow);
    }

    /** Every path under /v1 requires a token, even one that does not exist. Only routes declared open need none. */
    private @Nullable Principal authenticate(HelidonExchangeAdapter exchange, HttpRouter.LookupResult lookup) {
        boolean api = isApi(exchange);
        boolean open = switch (lookup) {
            case HttpRouter.RouteMatch found -> found.route().scope() == TokenScope.OPEN;
            case HttpRouter.MethodMismatch others -> !api && others.isOpen();
            case HttpRouter.NoRoute _ -> !api;
        };
        return open ? null : credentials.authenticate(exchange.headerLines(HeaderNames.AUTHORIZATION));
    }
}
