package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.store.StoreWriteCommand;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import dev.semel.workflow.Workflow;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Events and workflows that are written in Java, in a server that has their code; and one that cannot be read. */
class JavaEventsTest extends OnBothStores {
    record Paid(String order, int amount) {}

    private static final Workflow<Paid, String> SHIP = Workflow.define("ship_in_java", Paid.class, String.class)
            .onEvent(
                    "java.paid",
                    event -> event.path("data").path("amount").asInt(0) == 0
                            ? null
                            : new Paid(
                                    event.path("id").asString(),
                                    event.path("data").path("amount").asInt()))
            .onEvent("java.plain")
            .body((_, paid) -> paid.order());

    JavaEventsTest(ServerFixture stage) {
        super(stage);
    }

    private JsonNode send(String id, String type, String data) {
        return stage.admin()
                .post(
                        "/v1/events",
                        "{\"id\":\"" + id + "\",\"source\":\"/shop\",\"type\":\"" + type + "\",\"data\":" + data + "}")
                .expect(200)
                .json();
    }

    private static List<String> runs(JsonNode answer) {
        List<String> runs = new ArrayList<>();
        answer.path("runs").forEach(run -> runs.add(run.path("run_id").asString("refused")));
        return runs;
    }

    @Test
    void a_java_workflow_is_started_once_by_each_subscribed_event() {
        stage.server().serve().semel().register(SHIP);
        List<String> first = runs(send("j-1", "java.paid", "{\"amount\":5}"));
        assertEquals(1, first.size());
        assertEquals(first, runs(send("j-1", "java.paid", "{\"amount\":5}")));
        assertEquals(List.of(), runs(send("j-2", "java.paid", "{}")), "its code says that it does not want it");
        assertEquals(
                1,
                runs(send("j-3", "java.plain", "{\"order\":\"o\",\"amount\":1}"))
                        .size());
        JsonNode incompatibleRun = send("j-4", "java.plain", "{\"amount\":\"many\"}");
        assertEquals("invalid-input", incompatibleRun.at("/runs/0/problem/code").asString(), incompatibleRun::toString);
    }

    @Test
    void an_unreadable_workflow_gets_no_events_and_stops_no_other() {
        var semel = stage.server().serve().semel();
        semel.register(Workflow.define("readable", JsonNode.class, JsonNode.class)
                .onEvent("both.want")
                .body((_, input) -> input));
        semel.register(Workflow.define("unreadable", JsonNode.class, JsonNode.class)
                .onEvent("both.want")
                .body((_, input) -> input));
        assertEquals(2, runs(send("b-1", "both.want", "{}")).size());
        int ws = semel.testAccess().workspace();
        semel.change(new StoreWriteCommand.PublishVersion(
                ws, "unreadable", "wf_x", "{\"semel\":1,\"java\":\"unreadable\"}", "tester"));
        assertEquals(1, runs(send("b-2", "both.want", "{}")).size());
    }
}
