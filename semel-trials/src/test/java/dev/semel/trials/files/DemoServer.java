package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.demo.DemoExternalApi;
import dev.semel.server.demo.DemoExternalApiServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/** `semel dev --demo` with its playground on a store of its own; it ends with the invariants. */
final class DemoServer implements AutoCloseable {
    private static final int MOST_LOOKS = 20_000;

    private final String store;
    private final LiveServer server;

    DemoServer(StoreKind kind, Path folder) {
        this.store = kind.fresh(folder);
        this.server = LiveServer.dev(store, folder);
    }

    LiveServer server() {
        return server;
    }

    DemoExternalApiServer playground() {
        return Objects.requireNonNull(server.serve().playground());
    }

    ApiCaller caller() {
        return server.admin();
    }

    /** The next call has its effect, and its answer never comes. */
    void lose(DemoExternalApi provider) {
        playground().dropNextResponse(provider, () -> {});
    }

    void counted(DemoExternalApi provider, int calls, int effects) {
        assertEquals(
                new DemoExternalApiServer.CallCounts(calls, effects),
                playground().counts(provider),
                provider.pathName());
    }

    JsonNode run(String run) {
        return caller().get("/v1/runs/" + run).expect(200).json();
    }

    /** Asks until the run is like that; every question is a request of its own. */
    JsonNode until(String run, Predicate<JsonNode> wanted) {
        JsonNode row = run(run);
        for (int asked = 0; !wanted.test(row) && asked < MOST_LOOKS; asked++) {
            row = run(run);
        }
        assertTrue(wanted.test(row), row.toString());
        return row;
    }

    JsonNode untilStatus(String run, String status) {
        return until(run, row -> row.get("status").asString().equals(status));
    }

    /** A run that has ended, and as it should. */
    JsonNode completed(String run) {
        JsonNode row = until(run, one -> !one.get("ended_at").isNull());
        assertEquals("completed", row.get("status").asString(), row.toString());
        return row;
    }

    /** The one step of a run that has this status. */
    JsonNode step(String run, String status) {
        JsonNode items =
                caller().get("/v1/runs/" + run + "/timeline").expect(200).json().get("items");
        var found = StreamSupport.stream(items.spliterator(), false)
                .filter(item -> item.get("status").asString().equals(status))
                .toList();
        assertEquals(1, found.size(), items.toString());
        return found.getFirst();
    }

    @Override
    public void close() {
        server.close();
        Invariants.check(store);
    }
}
