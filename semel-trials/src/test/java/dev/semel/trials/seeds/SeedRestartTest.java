package dev.semel.trials.seeds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.ServerProcess;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** A server process that is killed while a run sleeps and another run sends. */
@Tag("trial")
class SeedRestartTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_killed_server_continues_a_sleep_repeats_no_step_and_keeps_every_key(StoreKind kind) throws Exception {
        String store = kind.fresh(folder);
        try (HttpReceiver receiver = new HttpReceiver()) {
            String sleeping;
            String sending;
            try (ServerProcess server = ServerProcess.start(folder, store, "dev", "--demo")) {
                ApiCaller caller = server.as("dev");
                caller.publish(flow("sleeping", receiver.url("/first"), "  - {id: nap, sleep: 12s}\n"))
                        .expect(200);
                caller.publish(flow("sending", receiver.url("/once"), """
                      - id: slow
                        http: { method: POST, url: "%s" }
                        protect: provider_key
                        provider_window: 24h
                    """.formatted(receiver.url("/slow"))))
                        .expect(200);
                receiver.hold("/slow");
                sleeping = caller.trigger("sleeping", "s1", "{}").expect(200).runId();
                sending = caller.trigger("sending", "s2", "{}").expect(200).runId();
                ConcurrentCalls.until(
                        "one run sleeps and the other sends",
                        () -> caller.get("/v1/runs/" + sleeping).text("status").equals("waiting")
                                && receiver.at("/slow").size() == 1);
                server.kill();
            }
            receiver.release("/slow");
            try (ServerProcess server = ServerProcess.start(folder, store, "dev", "--demo")) {
                ApiCaller caller = server.as("dev");
                JsonNode first = completed(caller, sleeping);
                JsonNode second = completed(caller, sending);
                for (JsonNode output : List.of(first, second)) {
                    assertEquals(output.path("made"), output.path("kept"), output::toString);
                }
                server.stop();
            }
            assertEquals(1, receiver.at("/first").size(), "a recorded step is not sent again");
            assertEquals(1, receiver.at("/once").size(), "a recorded step is not sent again");
            List<String> keys = receiver.at("/slow").stream()
                    .map(one -> String.valueOf(one.key()))
                    .toList();
            assertEquals(2, keys.size(), "the interrupted request is sent again");
            assertEquals(keys.getFirst(), keys.getLast(), "with the same key");
        }
        Invariants.check(store);
    }

    /** The second step sends the random value of the first one; both must be the same after the restart. */
    private static String flow(String name, String url, String more) {
        return """
            semel: 1
            workflow: %s
            owner: trials
            steps:
              - {id: chance, set: {id: "${ uuid() }"}}
              - id: first
                http: { method: POST, url: "%s", result: "${ steps.chance.id }" }
                protect: ask
            """.formatted(name, url) + more
                + "output: {made: \"${ steps.chance.id }\", kept: \"${ steps.first }\"}\n";
    }

    private static JsonNode completed(ApiCaller caller, String run) {
        ConcurrentCalls.until(
                run + " has ended",
                () -> !caller.get("/v1/runs/" + run).json().path("ended_at").isNull());
        HttpReply row = caller.get("/v1/runs/" + run);
        assertEquals("completed", row.text("status"), row.body());
        return row.json().get("output");
    }
}
