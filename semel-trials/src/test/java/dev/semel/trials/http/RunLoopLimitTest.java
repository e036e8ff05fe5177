package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.StoreKind;
import dev.semel.trials.support.TestServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** S45 and S42 of the checklist: workflows that start each other come to an end, and schedules have a quota. */
class RunLoopLimitTest {
    private static final int MOST_LOOKS = 20_000;

    @TempDir
    Path folder;

    private static SemelServer serve(Path folder, String store) {
        ServerOptions base = new ServerOptions(false, false, "127.0.0.1", 0, folder, store, null);
        return SemelServer.start(new TestServerOptions(base)
                .secretKey(LiveServer.SECRET_KEY)
                .allowHosts(List.of("127.0.0.1"))
                .limits(new ServerOptions.ServerLimits(4, 120))
                .build());
    }

    private ApiCaller admin(SemelServer serve) throws IOException {
        String token = Files.readString(folder.resolve("admin-token")).strip();
        return new ApiCaller(serve.port(), token, _ -> {});
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void workflows_that_start_each_other_end_after_a_limited_number_of_runs(StoreKind kind) throws IOException {
        try (SemelServer serve = serve(folder, kind.fresh(folder))) {
            ApiCaller admin = admin(serve);
            admin.put("/v1/secrets/own_token", "{\"value\":\"" + admin.token() + "\"}")
                    .expect(200);
            publish(admin, "ping\ntrigger: { events: [{ type: again }] }", "/v1/workflows/pong/trigger", "{}");
            publish(admin, "pong", "/v1/events", "{ id: \"${ run.id }\", source: /loop, type: again, data: {} }");
            admin.unkeyed("ping", "{}").expect(200);
            JsonNode last = until(admin, "failed");
            assertEquals(5, all(admin).size(), "one that began it, and four that were started by others");
            assertTrue(last.toString().contains("409"), last.toString());
        }
    }

    private static void publish(ApiCaller admin, String head, String path, String body) {
        String file = """
            semel: 1
            workflow: %s
            owner: o
            steps:
              - id: next
                http:
                  method: POST
                  url: http://127.0.0.1:%d%s
                  auth: ${ secret.own_token }
                  body: %s
                protect: none
                because: a trial of loops
            """.formatted(head, admin.port(), path, body);
        admin.publish(file).expect(200);
    }

    private static JsonNode all(ApiCaller admin) {
        return admin.get("/v1/runs?limit=100").expect(200).json().get("items");
    }

    private static JsonNode until(ApiCaller admin, String status) {
        for (int looks = 0; looks < MOST_LOOKS; looks++) {
            for (JsonNode run : all(admin)) {
                if (run.get("status").asString().equals(status)) {
                    return admin.get("/v1/runs/" + run.get("run_id").asString() + "/timeline")
                            .expect(200)
                            .json();
                }
            }
        }
        throw new AssertionError("no run is " + status + ": " + all(admin));
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_repeat_is_returned_at_any_depth_and_a_wrong_depth_is_rejected(StoreKind kind) throws IOException {
        try (SemelServer serve = serve(folder, kind.fresh(folder))) {
            ApiCaller admin = admin(serve);
            admin.publish("semel: 1\nworkflow: plain\nowner: o\nsteps:\n  - {id: note, set: {ok: true}}\n")
                    .expect(200);
            HttpReply first =
                    admin.trigger("plain", "k", "{}", "Semel-Depth: 4").expect(200);
            assertEquals(
                    first.runId(),
                    admin.trigger("plain", "k", "{}", "Semel-Depth: 99")
                            .expect(200)
                            .runId());
            assertEquals(
                    4,
                    admin.get("/v1/runs/" + first.runId())
                            .expect(200)
                            .json()
                            .at("/trigger/depth")
                            .asInt());
            HttpReply deep = admin.trigger("plain", "other", "{}", "Semel-Depth: 5");
            ProblemResponseChecks.expect(deep, 409, "triggered-too-deep");
            assertEquals("false", deep.header("x-should-retry"));
            admin.trigger("plain", "other", "{}").expect(200);
            ProblemResponseChecks.expect(admin.trigger("plain", "k", "{}", "Semel-Depth: -1"), 400, "invalid-input");
            HttpReply batch =
                    admin.post("/v1/workflows/plain/trigger-batch", "{\"items\":[{\"data\":{}}]}", "Semel-Depth: 5");
            assertEquals("triggered-too-deep", batch.json().at("/items/0/code").asString(), batch.body());
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_workspace_has_a_quota_of_schedules(StoreKind kind) throws IOException {
        try (SemelServer serve = serve(folder, kind.fresh(folder))) {
            ApiCaller admin = admin(serve);
            admin.publish(scheduled("first", 100)).expect(200);
            HttpReply refused = admin.publish(scheduled("second", 21));
            ProblemResponseChecks.expect(refused, 400, "invalid-definition");
            assertTrue(refused.text("detail").contains("would then have 121"), refused.body());
            admin.publish(scheduled("second", 20)).expect(200);
            admin.publish(scheduled("first", 99)).expect(200);
            admin.publish(scheduled("second", 21)).expect(200);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void concurrent_publishes_do_not_exceed_the_quota_together(StoreKind kind) throws IOException {
        try (SemelServer serve = serve(folder, kind.fresh(folder))) {
            ApiCaller admin = admin(serve);
            for (int round = 0; round < 3; round++) {
                String name = "round" + round + "_";
                boolean builders = round > 0;
                List<HttpReply> replies = ConcurrentCalls.atOnce(
                        6,
                        i -> builders
                                ? first(admin, name + i, scheduled(name + i, 50))
                                : admin.publish(scheduled(name + i, 50)));
                long passed =
                        replies.stream().filter(reply -> reply.status() == 200).count();
                assertEquals(
                        2,
                        passed,
                        () -> replies.stream().map(HttpReply::body).toList().toString());
                for (int i = 0; i < 6; i++) {
                    if (replies.get(i).status() == 200) {
                        admin.publish(scheduled(name + i, 0)).expect(200);
                    }
                }
            }
        }
    }

    /** As the builder publishes: only where there was no such workflow. */
    private static HttpReply first(ApiCaller admin, String name, String text) {
        return admin.send("PUT", "/v1/workflows/" + name, text, "Content-Type: application/yaml", "If-None-Match: *");
    }

    private static String scheduled(String name, int schedules) {
        if (schedules == 0) {
            return "semel: 1\nworkflow: " + name + "\nowner: o\nsteps:\n  - {id: note, set: {ok: true}}\n";
        }
        return "semel: 1\nworkflow: " + name + "\nowner: o\ntrigger:\n  schedules:\n"
                + IntStream.range(0, schedules)
                        .mapToObj(i -> "    - {id: s" + i + ", every: 365d}\n")
                        .collect(Collectors.joining())
                + "steps:\n  - {id: note, set: {ok: true}}\n";
    }
}
