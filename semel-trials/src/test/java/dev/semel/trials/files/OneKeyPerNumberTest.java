package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A number in an effect key, an item key or the key of a child is the same key in every notation. */
class OneKeyPerNumberTest extends OnDevServers {
    private static final String NOTATIONS = """
        semel: 1
        workflow: notations
        owner: trials
        steps:
          - id: plain
            http: {method: POST, url: "URL/plain"}
            protect: at_most_once
            object: ${ input.n }
            idempotent: {key: "${ input.n }", time: 1, unit: hours}
          - id: text
            http: {method: POST, url: "URL/text"}
            protect: at_most_once
            object: order-${ input.n }
            idempotent: {key: "order-${ input.n }", time: 1, unit: hours}
          - id: joined
            http: {method: POST, url: "URL/joined"}
            protect: at_most_once
            idempotent: {key: "${ key('order', input.n) }", time: 1, unit: hours}
          - id: child
            workflow: note_child
            key: child-${ input.n }
            input: {}
          - id: items
            for_each: ${ [input.n] }
            as: item
            item_key: ${ item }
            steps: [{id: each, set: {ok: true}}]
        """;

    OneKeyPerNumberTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void three_notations_send_one_effect() {
        try (CountingReceiver provider = new CountingReceiver()) {
            stage.admin().publish("""
                semel: 1
                workflow: note_child
                owner: trials
                steps: [{id: note, set: {ok: true}}]
                """).expect(200);
            stage.admin().publish(NOTATIONS.replace("URL", provider.url())).expect(200);
            TreeSet<String> keys = new TreeSet<>();
            for (String n : List.of("100", "100.0", "1e2")) {
                HttpReply run = stage.admin()
                        .post(
                                "/v1/workflows/notations/trigger?wait=30s",
                                "{\"data\":{\"n\":" + n + "}}",
                                "Idempotency-Key: notation " + n);
                assertEquals("completed", run.text("status"), run.body());
                JsonNode timeline = stage.admin()
                        .get("/v1/runs/" + run.runId() + "/timeline")
                        .expect(200)
                        .json();
                timeline.get("items").forEach(step -> {
                    if (!step.path("effect_key").asString("").isEmpty()) {
                        keys.add(step.get("effect_key").asString());
                    }
                    if (step.path("name").asString("").equals("each")) {
                        keys.add(step.get("path").asString());
                    }
                });
            }
            assertEquals(1, provider.accepted("/plain").size());
            assertEquals(1, provider.accepted("/text").size());
            assertEquals(1, provider.accepted("/joined").size());
            assertEquals(
                    List.of(),
                    keys.stream()
                            .filter(key -> key.contains("100.0") || key.contains("E"))
                            .toList());
            HttpReply children =
                    stage.admin().get("/v1/workflows/note_child/runs").expect(200);
            assertEquals(1, children.json().get("items").size(), children.body());
        }
    }
}
