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
import java.time.InstantSource;
import java.util.function.Supplier;

/** Every page, in one list. */
public final class Pages {
    private final Inside inside;
    private final Door door;

    private Pages(Inside inside, Door door) {
        this.inside = inside;
        this.door = door;
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
        Pages pages = new Pages(inside, door);
        router.add("GET", "/", Scope.OPEN, _ -> Look.goTo("/workflows"))
                .add("GET", "/assets/{file}", Scope.OPEN, assets::get)
                .add("GET", "/go", Scope.OPEN, door.page(Acts::go))
                .add("GET", "/live", Scope.OPEN, request -> pages.live(request, "/v1/tail"))
                .add(
                        "GET",
                        "/live/{run_id}",
                        Scope.OPEN,
                        request ->
                                pages.live(request, Inside.path("v1", "runs", request.parameter("run_id"), "events")));
        new Entrance(people, door, look).addTo(router);
        new WorkflowPages(runs).addTo(router, door);
        runs.addTo(router, door);
        KeyPages.addTo(router, door);
        ListPages.addTo(router, door);
        SettingPages.addTo(router, door);
        SafetyPages.addTo(router, door);
        Acts.addTo(router, door);
        Builder.addTo(router, door);
    }

    /** The stream of the API, for a browser, which has a session and cannot send a token. */
    private Answer live(Request request, String path) throws Exception {
        Visitor visitor = door.visitor(request);
        if (visitor == null) {
            return Problems.answer(
                    new SemelException(
                            ErrorCode.UNAUTHENTICATED, "The session is over. Nothing was read.", "Log in again."),
                    request.id());
        }
        return inside.ask(visitor.principal(), Inside.Call.get(path, ""), request.id());
    }
}
