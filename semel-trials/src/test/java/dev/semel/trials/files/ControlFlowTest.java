package dev.semel.trials.files;

import static dev.semel.trials.support.TriggerResponseChecks.fresh;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Branches, loops, waits, people and children in workflow files, on the real server. */
class ControlFlowTest extends OnBothStores {
    ControlFlowTest(ServerFixture stage) {
        super(stage);
    }

    @Test
    void the_first_matching_case_is_chosen_and_its_steps_are_readable_later() {
        admin().publish("""
            semel: 1
            workflow: chooser
            owner: o
            steps:
              - id: size
                choose:
                  - when: ${ input.total > 100 }
                    steps:
                      - {id: large, set: {fee: 0}}
                  - else: true
                    steps:
                      - {id: small, set: {fee: 5}}
            output:
              fee: ${ default(steps.large.fee, steps.small.fee) }
              chosen: ${ steps.size.chosen }
            """).expect(200);
        assertEquals("{\"fee\":0,\"chosen\":1}", output("chooser", "{\"total\":200}"));
        assertEquals("{\"fee\":5,\"chosen\":2}", output("chooser", "{\"total\":20}"));
    }

    @Test
    void a_loop_gives_each_item_its_steps_and_its_result() {
        admin().publish("""
            semel: 1
            workflow: looper
            owner: o
            steps:
              - id: lines
                for_each: ${ input.lines }
                as: line
                item_key: ${ line.sku }
                parallel: 3
                steps:
                  - {id: price, set: {cents: "${ line.qty * 100 }"}}
                  - {id: note, when: "${ line.qty > 1 }", set: {many: true}}
            output: ${ steps.lines }
            """).expect(200);
        assertEquals(
                "[{\"price\":{\"cents\":100}},{\"price\":{\"cents\":300},\"note\":{\"many\":true}}]",
                output("looper", "{\"lines\":[{\"sku\":\"a\",\"qty\":1},{\"sku\":\"b\",\"qty\":3}]}"));
    }

    @Test
    void two_items_with_one_key_fail_the_run_clearly() {
        admin().publish("""
            semel: 1
            workflow: doubled
            owner: o
            steps:
              - id: lines
                for_each: ${ input.lines }
                item_key: ${ item }
                steps: [{id: x, set: 1}]
            """).expect(200);
        HttpReply reply = run("doubled", "{\"lines\":[\"a\",\"a\"]}");
        assertEquals("failed", reply.text("status"), reply.body());
    }

    @Test
    void branches_run_concurrently_and_their_steps_are_readable_later() {
        admin().publish("""
            semel: 1
            workflow: brancher
            owner: o
            steps:
              - id: both
                parallel:
                  left: [{id: a, set: "${ input.x + 1 }"}, {id: b, set: "${ steps.a * 2 }"}]
                  right: [{id: c, set: "${ input.x + 10 }"}]
            output: ["${ steps.b }", "${ steps.c }"]
            """).expect(200);
        assertEquals("[4,11]", output("brancher", "{\"x\":1}"));
    }

    @Test
    void time_and_random_values_are_recorded_before_a_step_reads_them() {
        admin().publish("""
            semel: 1
            workflow: chancer
            owner: o
            steps:
              - {id: a, set: {at: "${ now() }", id: "${ uuid() }", n: "${ random() }"}}
              - {id: nap, sleep: 1s}
            output: ${ steps.a }
            """).expect(200);
        JsonNode output = StrictJsonCodec.parse(output("chancer", "{}"));
        assertEquals(36, output.get("id").asString().length(), output.toString());
        assertTrue(output.get("at").asString().startsWith("20"), output.toString());
        assertTrue(output.get("n").doubleValue() < 1, output.toString());
    }

    @Test
    void a_run_waits_for_a_signal_that_arrives_once() {
        admin().publish("""
            semel: 1
            workflow: waiter
            owner: o
            steps:
              - id: paid
                wait_for: {signal: payment.captured, timeout: 3d}
                on_timeout: {end: unpaid}
            output: ${ steps.paid }
            """).expect(200);
        String run = fresh(admin().unkeyed("waiter", "{}")).text("run_id");
        String path = "/v1/runs/" + run + "/signals/payment.captured";
        String body = "{\"data\":{\"amount\":5}}";
        HttpReply first = admin().post(path, body, "Idempotency-Key: evt_1").expect(200);
        assertTrue(first.json().get("delivered").booleanValue(), first.body());
        HttpReply second = admin().post(path, body, "Idempotency-Key: evt_1").expect(200);
        assertTrue(second.json().get("delivered").booleanValue(), "the same request is answered alike");
        assertEquals("true", second.header("X-Idempotent-Replayed"));
        admin().post(path, "{\"data\":{\"amount\":6}}", "Idempotency-Key: evt_1")
                .expect(422);
        assertEquals("{\"amount\":5}", end(run).get("output").toString());
    }

    @Test
    void an_expired_wait_ends_the_run_as_declared() {
        admin().publish("""
            semel: 1
            workflow: impatient
            owner: o
            steps:
              - id: paid
                wait_for: {signal: payment.captured, timeout: 1s}
                on_timeout: {end: unpaid}
              - {id: never, set: 1}
            """).expect(200);
        assertEquals("{\"ended\":\"unpaid\"}", output("impatient", "{}"));
    }

    @Test
    void users_decide_and_the_first_decision_applies() {
        admin().publish("""
            semel: 1
            workflow: asker
            owner: o
            steps:
              - id: release
                approval:
                  to: role:ops
                  title: Release ${ input.order }
                  show: {total: "${ input.total }"}
            output: ${ steps.release.approved }
            """).expect(200);
        String run = fresh(admin().unkeyed("asker", "{\"data\":{\"order\":\"o1\",\"total\":5}}"))
                .text("run_id");
        String decide = "/v1/runs/" + run + "/decide";
        awaitStatus(run, "waiting");
        HttpReply first = admin().post(decide, "{\"step\":\"release\",\"decision\":\"approve\"}")
                .expect(200);
        assertTrue(first.json().get("decided").booleanValue(), first.body());
        HttpReply second = admin().post(decide, "{\"step\":\"release\",\"decision\":\"reject\"}")
                .expect(200);
        assertEquals("false", second.json().get("decided").toString(), second.body());
        assertEquals("true", end(run).get("output").toString());
    }

    @Test
    void a_child_is_started_once_and_its_output_is_the_result() {
        admin().publish("""
            semel: 1
            workflow: child_flow
            owner: o
            steps: [{id: double, set: "${ input.n * 2 }"}]
            output: {twice: "${ steps.double }"}
            """).expect(200);
        admin().publish("""
            semel: 1
            workflow: parent_flow
            owner: o
            steps:
              - id: sub
                workflow: child_flow
                key: ${ key("child", input.n) }
                input: {n: "${ input.n }"}
            output: ${ steps.sub.twice }
            """).expect(200);
        assertEquals("14", output("parent_flow", "{\"n\":7}"));
        assertEquals("14", output("parent_flow", "{\"n\":7}"));
        HttpReply children = admin().get("/v1/workflows/child_flow/runs").expect(200);
        assertEquals(1, children.json().get("items").size(), children.body());
    }

    @Test
    void the_next_step_can_read_an_allowed_failure() {
        admin().publish("""
            semel: 1
            workflow: bearer
            owner: o
            steps:
              - {id: a, set: "${ input.missing }", on_error: continue}
              - {id: b, set: "${ has(steps.a.error) }"}
            output: ${ steps.b }
            """).expect(200);
        assertEquals("true", output("bearer", "{}"));
    }

    @Test
    void has_is_false_for_a_part_of_an_output_that_is_null() {
        admin().publish("""
            semel: 1
            workflow: silent_child
            owner: o
            steps: [{id: a, set: {ok: true}}]
            """).expect(200);
        admin().publish("""
            semel: 1
            workflow: caller
            owner: o
            steps:
              - {id: kid, workflow: silent_child, on_error: continue}
              - {id: failed, when: "${ has(steps.kid.error) }", set: {ok: true}}
            output: ${ has(steps.failed) }
            """).expect(200);
        assertEquals("false", output("caller", "{}"));
    }

    @Test
    void the_error_of_a_run_names_the_step_whose_expression_failed() {
        admin().publish("""
            semel: 1
            workflow: misread
            owner: o
            steps:
              - {id: first, set: {ok: true}}
              - {id: second, when: "${ steps.first.nothing }", set: {ok: true}}
            """).expect(200);
        JsonNode run = run("misread", "{}").json();
        assertEquals("second", run.at("/error/step").asString(), run::toString);
    }

    @Test
    void a_run_can_be_cancelled_while_it_sleeps() {
        admin().publish("""
            semel: 1
            workflow: sleeper
            owner: o
            steps: [{id: nap, sleep: 30d}]
            """).expect(200);
        String run = fresh(admin().unkeyed("sleeper", "{}")).text("run_id");
        awaitStatus(run, "waiting");
        admin().post("/v1/runs/" + run + "/cancel", "{\"reason\":\"not needed\"}")
                .expect(200);
        assertEquals("cancelled", end(run).get("status").asString());
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private HttpReply run(String workflow, String data) {
        return admin().post("/v1/workflows/" + workflow + "/trigger?wait=60s", "{\"data\":" + data + "}")
                .expect(200);
    }

    private String output(String workflow, String data) {
        HttpReply reply = run(workflow, data);
        assertEquals("completed", reply.text("status"), reply.body());
        return reply.json().get("output").toString();
    }

    /** Asks until the run has ended; every question is a request of its own. */
    private JsonNode end(String run) {
        return until(run, row -> !row.get("ended_at").isNull());
    }

    private void awaitStatus(String run, String status) {
        until(run, row -> row.get("status").asString().equals(status));
    }

    private JsonNode until(String run, Predicate<JsonNode> wanted) {
        JsonNode row = admin().get("/v1/runs/" + run).expect(200).json();
        for (int asked = 0; !wanted.test(row) && asked < 20_000; asked++) {
            row = admin().get("/v1/runs/" + run).expect(200).json();
        }
        assertTrue(wanted.test(row), row.toString());
        return row;
    }
}
