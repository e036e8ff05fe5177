package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Visitor;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Problems;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Registers the routes of all dashboard pages. */
public final class Pages {
    private static final Duration SESSION_CHECK_INTERVAL = Duration.ofSeconds(3);

    private final Inside inside;
    private final Door guard;
    private final InstantSource clock;

    private Pages(Inside inside, Door guard, InstantSource clock) {
        this.inside = inside;
        this.guard = guard;
        this.clock = clock;
    }

    /**
     * Adds the dashboard's routes to the router of the API, which the dashboard calls.
     *
     * @param keys generates the idempotency key of each form
     */
    public static void addTo(Router router, People users, InstantSource clock, Supplier<String> keys) {
        Inside inside = new Inside(router);
        Assets assets = new Assets();
        Look look = new Look(assets, inside, clock, keys);
        Door guard = new Door(users, inside, look);
        RunPages runs = new RunPages(clock);
        Pages pages = new Pages(inside, guard, clock);
        router.nowhere(guard.nowhere());
        router.add("GET", "/", Scope.OPEN, _ -> Look.goTo("/workflows"))
                .add("GET", "/assets/{file}", Scope.OPEN, assets::get)
                .add("GET", "/go", Scope.OPEN, guard.page(Palette::go))
                .add("GET", "/live", Scope.OPEN, request -> pages.live(request, "/v1/tail"))
                .add(
                        "GET",
                        "/live/{run_id}",
                        Scope.OPEN,
                        request ->
                                pages.live(request, Inside.path("v1", "runs", request.parameter("run_id"), "events")));
        new Entrance(users, guard, look).addTo(router);
        new ProviderPages(users, guard).addTo(router);
        PersonPages.addTo(router, guard);
        RevealPages.addTo(router, guard);
        new WorkflowPages(runs).addTo(router, guard);
        runs.addTo(router, guard);
        new RunDeeds(runs).addTo(router, guard);
        KeyPages.addTo(router, guard);
        ListPages.addTo(router, guard);
        HookPages.addTo(router, guard);
        SettingPages.addTo(router, guard);
        SafetyPages.addTo(router, guard);
        Documents.addTo(router, guard);
        ShownOnce.addTo(router, guard);
        SavedViews.addTo(router, guard);
        ReplayPages.addTo(router, guard);
        ReviewPages.addTo(router, guard);
        IncidentPages.addTo(router, guard);
        router.add(
                "GET",
                "/live/replays/{replay_id}",
                Scope.OPEN,
                request -> pages.live(request, Inside.path("v1", "replays", request.parameter("replay_id"), "events")));
        Acts.addTo(router, guard);
        Builder.addTo(router, guard);
    }

    /** Forwards an event stream of the API to a browser, which has a session and no token. */
    private Answer live(Request request, String path) throws Exception {
        Door.ownOrigin(request);
        Visitor visitor = guard.visitor(request);
        if (visitor == null) {
            return Problems.answer(
                    new SemelException(
                            ErrorCode.UNAUTHENTICATED, "Your session has ended. Nothing was read.", "Log in again."),
                    request.id());
        }
        // The stream ends within this interval after log-out or removal of the user.
        AtomicLong checked = new AtomicLong(clock.millis());
        return inside.ask(visitor.principal(), Inside.Call.get(path, ""), request.id())
                .whileHolding(() -> {
                    long now = clock.millis();
                    if (now - checked.get() < SESSION_CHECK_INTERVAL.toMillis()) {
                        return true;
                    }
                    checked.set(now);
                    return guard.visitor(request) != null;
                });
    }
}
