package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Attack S38 end to end: what names a class in an input goes through steps, store and API as it came. */
class HostileDocumentsTest extends OnBothStores {
    HostileDocumentsTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void s38_a_result_that_names_a_class_is_stored_and_read_as_data() {
        stage.admin().publish("""
            semel: 1
            workflow: carrier
            owner: o
            steps:
              - {id: kept, set: {v: "${ input.v }"}}
              - {id: nap, sleep: 1s}
              - {id: again, set: {v: "${ steps.kept.v }", text: "${ json(steps.kept.v) }"}}
            output: ${ steps.again }
            """).expect(200);
        for (String value : List.of(
                "{\"@class\":\"java.lang.ProcessBuilder\",\"command\":[\"touch\",\"x\"]}",
                "[\"java.lang.ProcessBuilder\",{\"command\":[\"touch\",\"x\"]}]",
                "\"rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA==\"")) {
            HttpReply reply = stage.admin()
                    .post(
                            "/v1/workflows/carrier/trigger?wait=60s",
                            "{\"data\":{\"v\":" + value + "}}",
                            "Idempotency-Key: " + stage.key())
                    .expect(200);
            assertEquals("completed", reply.text("status"), reply.body());
            assertEquals(value, reply.json().at("/output/v").toString());
            assertEquals(
                    StrictJsonCodec.parse(value),
                    StrictJsonCodec.parse(reply.json().at("/output/text").asString()));
            HttpReply read =
                    stage.admin().get("/v1/runs/" + reply.text("run_id")).expect(200);
            assertEquals(value, read.json().at("/output/v").toString());
            assertEquals(value, read.json().at("/input/v").toString());
        }
    }
}
