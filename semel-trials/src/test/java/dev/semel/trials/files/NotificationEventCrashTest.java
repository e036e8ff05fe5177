package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.StoreKind;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The server dies after the event of a notification started its runs, and before that is recorded. */
@Tag("trial")
class NotificationEventCrashTest {
    private static final int MOST_LOOKS = 20_000;

    @TempDir
    Path folder;

    private static void prepare(ApiCaller admin, String url) {
        admin.put("/v1/channels/journal", "{\"kind\":\"webhook\",\"url\":\"" + url + "\"}")
                .expect(200);
        admin.put("/v1/templates/hello", "{\"channel\":\"webhook\",\"text\":\"hello\"}")
                .expect(200);
        admin.put("/v1/routes/lead.joined", """
            {"notification":"lead.joined","channels":[{"channel":"journal","template":"hello"}]}\
            """).expect(200);
        admin.publish("""
            semel: 1
            workflow: follows
            owner: o
            trigger: { events: [{ type: lead.joined }] }
            steps: [{id: note, set: {ok: true}}]
            """).expect(200);
        admin.publish("""
            semel: 1
            workflow: joins
            owner: o
            steps:
              - {id: hello, notify: lead.joined, to: ann@example.com, emit: true, protect: at_most_once}
            output: ${ steps.hello }
            """).expect(200);
    }

    private static JsonNode ended(ApiCaller admin, String run) {
        JsonNode row = admin.get("/v1/runs/" + run).expect(200).json();
        for (int looks = 0; row.get("ended_at").isNull() && looks < MOST_LOOKS; looks++) {
            row = admin.get("/v1/runs/" + run).expect(200).json();
        }
        return row;
    }

    private static ApiCaller callerOf(FlowProcess server) {
        ApiCaller caller = server.caller();
        assertNotNull(caller);
        return caller;
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void the_recovered_run_finds_the_runs_that_its_event_started(StoreKind kind) {
        String store = kind.fresh(folder);
        try (CountingReceiver chat = new CountingReceiver()) {
            // The first recorded step is the plan of the message, the second one is its event.
            try (FlowProcess server = FlowProcess.start(folder, store, new ExampleFlow.HaltPoint("step-done", 2))) {
                ApiCaller admin = callerOf(server);
                prepare(admin, chat.url());
                admin.put("/v1/workflows/joins/runs/the-run", "{\"data\":{},\"delay\":\"500ms\"}")
                        .expect(200);
                assertThrows(UncheckedIOException.class, () -> ended(admin, "the-run"), "the server halts");
                assertNull(server.over(), "the point was never hit");
            }
            try (FlowProcess server = FlowProcess.start(folder, store, new ExampleFlow.HaltPoint("none", 1))) {
                ApiCaller admin = callerOf(server);
                JsonNode run = ended(admin, "the-run");
                assertEquals("completed", run.get("status").asString(), run.toString());
                JsonNode started = admin.get("/v1/workflows/follows/runs")
                        .expect(200)
                        .json()
                        .get("items");
                assertEquals(1, started.size(), started.toString());
                assertEquals(started.get(0).get("run_id"), run.at("/output/event/runs/0/run_id"), run.toString());
                assertEquals(1, chat.accepted("").size());
                assertTrue(started.get(0).at("/trigger/run_id").asString("").equals("the-run"), started.toString());
            }
        }
    }
}
