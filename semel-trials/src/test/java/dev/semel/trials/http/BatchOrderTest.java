package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Items of a batch whose order has an effect are admitted in the order of the request. */
class BatchOrderTest extends OnBothStores {
    private static final int ITEMS = 60;

    BatchOrderTest(ServerFixture stage) {
        super(stage);
    }

    private static String file(String name, String more) {
        return """
            semel: 1
            workflow: NAME
            owner: o
            MORE
            steps: [{id: note, set: {n: "${ input.n }"}}]
            output: ${ steps.note }
            """.replace("NAME", name).replace("MORE", more);
    }

    /** The numbers of the runs of a workflow, in the order in which the runs started to execute. */
    private List<Integer> executed(String workflow) {
        List<JsonNode> runs = new ArrayList<>();
        for (int looks = 0; looks < 20_000 && runs.size() < ITEMS; looks++) {
            runs.clear();
            stage.admin()
                    .get("/v1/workflows/" + workflow + "/runs?limit=100")
                    .expect(200)
                    .json()
                    .get("items")
                    .forEach(run -> {
                        if (!run.get("ended_at").isNull()) {
                            runs.add(run);
                        }
                    });
        }
        runs.sort((a, b) ->
                a.get("ended_at").asString().compareTo(b.get("ended_at").asString()));
        return runs.stream().map(run -> run.at("/output/n").asInt()).toList();
    }

    private static List<Integer> numbers() {
        return IntStream.range(0, ITEMS).boxed().toList();
    }

    @Test
    void the_items_of_a_batch_run_in_their_order_if_they_share_an_entity() {
        stage.admin().publish(file("ordered", "serial_by: \"${ input.who }\"")).expect(200);
        List<String> items = new ArrayList<>();
        for (int n = 0; n < ITEMS; n++) {
            items.add("{\"key\":\"o" + n + "\",\"data\":{\"who\":\"ann\",\"n\":" + n + "}}");
        }
        stage.admin()
                .post("/v1/workflows/ordered/trigger-batch", "{\"items\":[" + String.join(",", items) + "]}")
                .expect(200);
        assertEquals(numbers(), executed("ordered"));
    }

    @Test
    void the_first_item_of_a_derived_key_is_the_new_one() {
        stage.admin()
                .publish(file("derived", "trigger: { http: { key: \"${ input.who }\" } }"))
                .expect(200);
        List<String> items = new ArrayList<>();
        for (int n = 0; n < ITEMS; n++) {
            items.add("{\"data\":{\"who\":\"w" + n % 3 + "\",\"n\":" + n + "}}");
        }
        JsonNode answers = stage.admin()
                .post("/v1/workflows/derived/trigger-batch", "{\"items\":[" + String.join(",", items) + "]}")
                .expect(200)
                .json()
                .get("items");
        List<Integer> fresh = new ArrayList<>();
        for (int n = 0; n < ITEMS; n++) {
            if (!answers.get(n).get("idempotent_replayed").asBoolean()) {
                fresh.add(n);
            }
        }
        assertEquals(List.of(0, 1, 2), fresh);
    }

    @Test
    void the_events_of_a_batch_run_in_their_order_if_a_subscriber_orders_its_runs() {
        stage.admin()
                .publish(file(
                        "listens", "serial_by: \"${ input.who }\"\ntrigger: { events: [{ type: batch.ordered }] }"))
                .expect(200);
        List<String> events = new ArrayList<>();
        for (int n = 0; n < ITEMS; n++) {
            events.add("{\"specversion\":\"1.0\",\"id\":\"b" + n
                    + "\",\"source\":\"/shop\",\"type\":\"batch.ordered\",\"data\":{\"who\":\"ann\",\"n\":" + n
                    + "}}");
        }
        stage.admin()
                .send(
                        "POST",
                        "/v1/events",
                        "[" + String.join(",", events) + "]",
                        "Content-Type: application/cloudevents-batch+json")
                .expect(200);
        assertEquals(numbers(), executed("listens"));
    }
}
