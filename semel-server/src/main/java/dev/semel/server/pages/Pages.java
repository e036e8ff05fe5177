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

/** Every page, in one list. */
public final class Pages {
    private static final Duration LOOK_EVERY = Duration.ofSeconds(3);

    private final Inside inside;
    private final Door door;
    private final InstantSource clock;

    private Pages(Inside inside, Door door, InstantSource clock) {
        this.inside = inside;
        this.door = door;
        this.clock = clock;
    }

    /**
     * Adds the pages to the routes of the API, which they ask.
     *
     * @param keys makes a key for each form
     */
    public static void addTo(Router router, People people, InstantSource clock, Supplier<String> keys) {
        Inside inside = new Inside(router);
        Assets assets = new Assets();
        Look look = new Look(assets, inside, clock, keys);
        Door door = new Door(people, inside, look);
        RunPages runs = new RunPages(clock);
        Pages pages = new Pages(inside, door, clock);
        router.nowhere(door.nowhere());
        router.add("GET", "/", Scope.OPEN, _ -> Look.goTo("/workflows"))
                .add("GET", "/assets/{file}", Scope.OPEN, assets::get)
                .add("GET", "/go", Scope.OPEN, door.page(Palette::go))
                .add("GET", "/live", Scope.OPEN, request -> pages.live(request, "/v1/tail"))
                .add(
                        "GET",
                        "/live/{run_id}",
                        Scope.OPEN,
                        request ->
                                pages.live(request, Inside.path("v1", "runs", request.parameter("run_id"), "events")));
        new Entrance(people, door, look).addTo(router);
        new ProviderPages(people, door).addTo(router);
        PersonPages.addTo(router, door);
        RevealPages.addTo(router, door);
        new WorkflowPages(runs).addTo(router, door);
        runs.addTo(router, door);
        new RunDeeds(runs).addTo(router, door);
        KeyPages.addTo(router, door);
        ListPages.addTo(router, door);
        HookPages.addTo(router, door);
        SettingPages.addTo(router, door);
        SafetyPages.addTo(router, door);
        Documents.addTo(router, door);
        ShownOnce.addTo(router, door);
        SavedViews.addTo(router, door);
        ReplayPages.addTo(router, door);
        ReviewPages.addTo(router, door);
        IncidentPages.addTo(router, door);
        router.add(
                "GET",
                "/live/replays/{replay_id}",
                Scope.OPEN,
                request -> pages.live(request, Inside.path("v1", "replays", request.parameter("replay_id"), "events")));
        Acts.addTo(router, door);
        Builder.addTo(router, door);
    }

    /** The stream of the API, for a browser, which has a session and cannot send a token. */
    private Answer live(Request request, String path) throws Exception {
        Door.ownOrigin(request);
        Visitor visitor = door.visitor(request);
        if (visitor == null) {
            return Problems.answer(
                    new SemelException(
                            ErrorCode.UNAUTHENTICATED, "The session is over. Nothing was read.", "Log in again."),
                    request.id());
        }
        // Whoever is logged out, or removed, hears no more than these few seconds.
        AtomicLong looked = new AtomicLong(clock.millis());
        return inside.ask(visitor.principal(), Inside.Call.get(path, ""), request.id())
                .whileHolding(() -> {
                    long now = clock.millis();
                    if (now - looked.get() < LOOK_EVERY.toMillis()) {
                        return true;
                    }
                    looked.set(now);
                    return door.visitor(request) != null;
                });
    }
}
