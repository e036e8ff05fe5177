package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.demo.DemoExternalApi;
import dev.semel.server.demo.DemoExternalApiServer;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What a file promises of its messages and calls, when the world around it has changed since it was published. */
class ChangedProtectionTest extends OnDevServers {
    private static final int MOST_LOOKS = 20_000;

    ChangedProtectionTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void furnish() {
        put("templates/reported", "{\"channel\":\"chat\",\"text\":\"{{ v }}\"}");
    }

    private void put(String path, String document) {
        stage.admin().put("/v1/" + path, document).expect(200);
    }

    private DemoExternalApiServer playground() {
        return Objects.requireNonNull(stage.server().serve().playground());
    }

    private long calls(DemoExternalApi provider) {
        return playground().counts(provider).calls();
    }

    /** A channel to one of the providers; where it remembers keys, for how long. */
    private void channel(String name, DemoExternalApi provider, String window) {
        String honours =
                window.isEmpty() ? "" : ",\"honours\":[\"provider_key\"],\"provider_window\":\"" + window + "\"";
        put(
                "channels/" + name,
                "{\"kind\":\"chat\",\"url\":\"" + playground().url() + "/" + provider.pathName() + "\"" + honours
                        + "}");
    }

    private HttpReply triggered(String workflow, String key) {
        return stage.admin()
                .post(
                        "/v1/workflows/" + workflow + "/trigger?wait=60s",
                        "{\"data\":{\"to\":\"#room\",\"v\":\"a\"}}",
                        "Idempotency-Key: " + key)
                .expect(200);
    }

    private JsonNode run(String id) {
        return stage.admin().get("/v1/runs/" + id).expect(200).json();
    }

    private static String message(String workflow, String rest) {
        return """
            semel: 1
            workflow: WORKFLOW
            owner: o
            steps:
              - id: tell
                send: {channel: WORKFLOW, to: "${ input.to }", template: reported, data: {v: "${ input.v }"}}
            """.replace("WORKFLOW", workflow) + rest.indent(4);
    }

    @Test
    void a_provider_window_longer_than_that_of_the_channel_does_not_publish() {
        channel("forgetful", DemoExternalApi.CHAT, "1h");
        String file = message("forgetful", "protect: provider_key\nprovider_window: 24h");
        HttpReply refused = ProblemResponseChecks.expect(stage.admin().publish(file), 400, "invalid-definition");
        assertTrue(
                refused.body()
                        .contains("line 7, column 14: SEM-P02: step 'tell' declares provider_window: 1d, but the"
                                + " provider of channel forgetful remembers a key for only 1h. Nothing was published."),
                refused.body());
        stage.admin().publish(file.replace("24h", "1h")).expect(200);
    }

    @Test
    void a_message_is_not_resent_to_a_provider_that_forgot_its_key() {
        channel("shorter", DemoExternalApi.CHAT, "1d");
        stage.admin()
                .publish(message(
                        "shorter", "protect: provider_key\nprovider_window: 24h\nretry: {first: 2s, factor: 1}"))
                .expect(200);
        channel("shorter", DemoExternalApi.CHAT, "1s");
        long before = calls(DemoExternalApi.CHAT);
        playground().dropNextResponse(DemoExternalApi.CHAT, () -> {});
        String id = stage.admin()
                .trigger("shorter", stage.key(), "{\"data\":{\"to\":\"#room\",\"v\":\"a\"}}")
                .text("run_id");
        JsonNode run = run(id);
        for (int asked = 0; asked < MOST_LOOKS && !isSettled(run); asked++) {
            run = run(id);
        }
        assertEquals("in_doubt", run.get("status").asString(), run.toString());
        assertEquals(1, calls(DemoExternalApi.CHAT) - before);
        stage.admin().post("/v1/runs/" + id + "/cancel", "{}").expect(200);
    }

    private static boolean isSettled(JsonNode run) {
        return !run.get("ended_at").isNull() || run.get("status").asString().equals("in_doubt");
    }

    @Test
    void if_a_later_channel_cannot_keep_the_protection_nothing_is_sent() {
        channel("keeps", DemoExternalApi.CHAT, "1d");
        channel("cannot", DemoExternalApi.MAIL, "");
        put(
                "routes/reported.all",
                "{\"notification\":\"reported.all\",\"channels\":[{\"channel\":\"keeps\",\"template\":\"reported\"}]}");
        stage.admin().publish("""
            semel: 1
            workflow: routed
            owner: o
            steps:
              - id: tell
                notify: reported.all
                to: ${ input.to }
                data: {v: "${ input.v }"}
                protect: provider_key
                provider_window: 24h
            """).expect(200);
        assertEquals("completed", triggered("routed", stage.key()).text("status"));
        put("routes/reported.all", """
            {"notification":"reported.all","channels":[{"channel":"keeps","template":"reported"},{"channel":"cannot","template":"reported"}]}\
            """);
        long before = calls(DemoExternalApi.CHAT) + calls(DemoExternalApi.MAIL);
        HttpReply failed = triggered("routed", stage.key());
        assertEquals("failed", failed.text("status"), failed.body());
        JsonNode error = run(failed.text("run_id")).get("error");
        assertTrue(
                error.toString()
                        .contains("SEM-P02: the step declares protect: provider_key, but channel cannot supports"),
                error.toString());
        assertEquals(before, calls(DemoExternalApi.CHAT) + calls(DemoExternalApi.MAIL));
    }

    @Test
    void a_replay_of_a_suppressed_message_shows_the_suppression_and_its_cause() {
        channel("repeated", DemoExternalApi.CHAT, "");
        String window = "idempotent: {key: reported, time: 1, unit: days}\nprotect: ask"
                .replace("reported", "\"${ input.to }\"");
        String file = message("repeated", window);
        stage.admin().publish(file).expect(200);
        String first = triggered("repeated", stage.key()).text("run_id");
        String again = "idempotency: {on_failed: run_again}\n";
        String then = "  - {id: then, set: \"${ input.gone }\"}\n";
        stage.admin()
                .publish(file.replace("owner: o\n", "owner: o\n" + again) + then)
                .expect(200);
        String key = stage.key();
        String suppressed = triggered("repeated", key).text("run_id");
        stage.admin()
                .publish(file.replace("owner: o\n", "owner: o\n" + again) + "output: ${ steps.tell }\n")
                .expect(200);
        HttpReply repeated = triggered("repeated", key);
        assertFalse(repeated.text("run_id").equals(suppressed), repeated.body());
        assertEquals(suppressed, repeated.text("previous_run_id"), repeated.body());
        JsonNode output = repeated.json().get("output");
        assertEquals("true", output.path("suppressed").toString(), output.toString());
        assertEquals(first, output.path("first_run").asString(), output.toString());
        assertTrue(output.path("first_sent_at").asString().startsWith("20"), output.toString());
    }

    /** Of two that are published at once neither sees the other; a version that comes back closes a circle just so. */
    @Test
    void a_run_that_finds_a_workflow_call_cycle_fails_and_starts_nothing() {
        String ring = "semel: 1\nworkflow: ring_NAME\nowner: o\nsteps: [{id: call, WHAT}]\n";
        String back = ring.replace("NAME", "a").replace("WHAT", "workflow: ring_b");
        stage.admin().publish(back).expect(200);
        stage.admin()
                .publish(ring.replace("NAME", "a").replace("WHAT", "set: 1"))
                .expect(200);
        stage.admin()
                .publish(ring.replace("NAME", "b").replace("WHAT", "workflow: ring_a"))
                .expect(200);
        assertEquals("completed", triggered("ring_b", stage.key()).text("status"));
        stage.admin()
                .post("/v1/workflows/ring_a/rollback", "{\"version\":1,\"reason\":\"a test\"}")
                .expect(200);
        HttpReply failed = triggered("ring_a", stage.key());
        assertEquals("failed", failed.text("status"), failed.body());
        JsonNode error = run(failed.text("run_id")).get("error");
        assertTrue(error.toString().contains("the calls form a cycle"), error.toString());
        JsonNode runs = stage.admin()
                .get("/v1/workflows/ring_b/runs")
                .expect(200)
                .json()
                .get("items");
        assertEquals(2, runs.size(), runs.toString());
        JsonNode ofA = stage.admin()
                .get("/v1/workflows/ring_a/runs")
                .expect(200)
                .json()
                .get("items");
        assertEquals(2, ofA.size(), "the child of the first, and the one that closed the circle: " + ofA);
    }

    /** Names in an order that no hash has: a map that forgot the file's order would show another one. */
    @Test
    void branches_and_items_keep_the_order_of_the_file_and_the_list() {
        String names = "zebra yak xerus wolf vole unau tapir seal raven quail panda otter".replace(' ', ',');
        StringBuilder branches = new StringBuilder();
        for (String name : names.split(",")) {
            branches.append("      ")
                    .append(name)
                    .append(": [{id: s_")
                    .append(name)
                    .append(", set: 1}]\n");
        }
        stage.admin().publish("""
            semel: 1
            workflow: ordered
            owner: o
            steps:
              - id: legs
                parallel:
            BRANCHES
              - id: items
                for_each: ${ input.items }
                item_key: ${ item }
                parallel: 8
                steps: [{id: own, set: "${ item }"}]
              - id: one_by_one
                for_each: ${ input.items }
                item_key: ${ item }
                steps: [{id: mine, set: "${ item }"}]
            output: {legs: "${ steps.legs }", items: "${ map(steps.items, x, x.own) }"}
            """.replace("BRANCHES\n", branches)).expect(200);
        String items = IntStream.range(0, 26)
                .mapToObj(i -> "\"" + (char) ('z' - i) + i + "\"")
                .collect(java.util.stream.Collectors.joining(",", "[", "]"));
        HttpReply reply = stage.admin()
                .post("/v1/workflows/ordered/trigger?wait=60s", "{\"data\":{\"items\":" + items + "}}")
                .expect(200);
        assertEquals("completed", reply.text("status"), reply.body());
        JsonNode output = reply.json().get("output");
        assertEquals(names, String.join(",", output.get("legs").propertyNames()));
        assertEquals(items, output.get("items").toString());
        String timeline = stage.admin()
                .get("/v1/runs/" + reply.text("run_id") + "/timeline")
                .expect(200)
                .body();
        int last = 0;
        for (JsonNode item : output.get("items")) {
            int at = timeline.indexOf("one_by_one[" + item.asString() + "]");
            assertTrue(at > last, () -> item + " began out of turn: " + timeline);
            last = at;
        }
    }
}
