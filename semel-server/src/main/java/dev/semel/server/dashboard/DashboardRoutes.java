package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.ProblemResponses;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Registers the routes of all dashboard pages. */
public final class DashboardRoutes {
    private static final Duration SESSION_CHECK_INTERVAL = Duration.ofSeconds(3);

    private final InternalApiClient inside;
    private final DashboardGuard guard;
    private final InstantSource clock;

    private DashboardRoutes(InternalApiClient inside, DashboardGuard guard, InstantSource clock) {
        this.inside = inside;
        this.guard = guard;
        this.clock = clock;
    }

    /**
     * Adds the dashboard's routes to the router of the API, which the dashboard calls.
     *
     * @param keys generates the idempotency key of each form
     */
    public static void addTo(Router router, UserAccounts users, InstantSource clock, Supplier<String> keys) {
        InternalApiClient inside = new InternalApiClient(router);
        Assets assets = new Assets();
        PageRenderer look = new PageRenderer(assets, inside, clock, keys);
        DashboardGuard guard = new DashboardGuard(users, inside, look);
        RunHistoryPages runs = new RunHistoryPages(clock);
        DashboardRoutes pages = new DashboardRoutes(inside, guard, clock);
        router.notFoundHandler(guard.notFound());
        router.add("GET", "/", TokenScope.OPEN, _ -> PageRenderer.redirect("/workflows"))
                .add("GET", "/assets/{file}", TokenScope.OPEN, assets::get)
                .add("GET", "/search", TokenScope.OPEN, guard.page(DashboardSearch::go))
                .add("GET", "/live", TokenScope.OPEN, request -> pages.live(request, "/v1/tail"))
                .add(
                        "GET",
                        "/live/{run_id}",
                        TokenScope.OPEN,
                        request -> pages.live(
                                request, InternalApiClient.path("v1", "runs", request.parameter("run_id"), "events")));
        new LoginRoutes(users, guard, look).addTo(router);
        new OidcLoginPages(users, guard).addTo(router);
        UserPages.addTo(router, guard);
        RevealPages.addTo(router, guard);
        new WorkflowPages(runs).addTo(router, guard);
        runs.addTo(router, guard);
        new RunActionForms(runs).addTo(router, guard);
        KeyPages.addTo(router, guard);
        ListPages.addTo(router, guard);
        WebhookPages.addTo(router, guard);
        SettingPages.addTo(router, guard);
        MonitoringPages.addTo(router, guard);
        SettingDocumentPages.addTo(router, guard);
        CredentialForms.addTo(router, guard);
        SavedViews.addTo(router, guard);
        ReplayPages.addTo(router, guard);
        ReviewPages.addTo(router, guard);
        IncidentPages.addTo(router, guard);
        router.add(
                "GET",
                "/live/replays/{replay_id}",
                TokenScope.OPEN,
                request -> pages.live(
                        request, InternalApiClient.path("v1", "replays", request.parameter("replay_id"), "events")));
        ActionForms.addTo(router, guard);
        BuilderPages.addTo(router, guard);
    }

    /** Forwards an event stream of the API to a browser, which has a session and no token. */
    private HttpResponse live(HttpRequest request, String path) throws Exception {
        DashboardGuard.requireSameOrigin(request);
        SignedInUser visitor = guard.signedInUser(request);
        if (visitor == null) {
            return ProblemResponses.toResponse(
                    new SemelException(
                            ErrorCode.UNAUTHENTICATED, "Your session has ended. Nothing was read.", "Log in again."),
                    request.id());
        }
        // The stream ends within this interval after log-out or removal of the user.
        AtomicLong checked = new AtomicLong(clock.millis());
        return inside.call(visitor.principal(), InternalApiClient.ApiCall.get(path, ""), request.id())
                .streamWhile(() -> {
                    long now = clock.millis();
                    if (now - checked.get() < SESSION_CHECK_INTERVAL.toMillis()) {
                        return true;
                    }
                    checked.set(now);
                    return guard.signedInUser(request) != null;
                });
    }
}
