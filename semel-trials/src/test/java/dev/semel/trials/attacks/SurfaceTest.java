package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.failing;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import dev.semel.trials.support.ServerProcess;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the process itself shows: its log, its files, its addresses for machines. */
class SurfaceTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void s31_the_log_is_one_json_object_per_line_without_payload_or_token(StoreKind kind) throws Exception {
        String store = kind.fresh(folder);
        try (ServerProcess server = ServerProcess.start(folder, store, "serve")) {
            String token = Files.readString(folder.resolve("admin-token")).strip();
            ApiCaller admin = server.as(token);
            admin.publish(keyed("logged", "fingerprint: [a]")).expect(200);
            admin.publish(failing("failing")).expect(200);
            // What a line of the log may show of a caller's text must not end the line or drive a terminal.
            String batch = "{\"items\": [{\"key\": \"a\\n2026-11-15 ERROR admin ok\", \"data\": {}},"
                    + " {\"key\": \"\\u001b[2J\", \"data\": {}}, {\"key\": \"a\\u2028b\", \"data\": {}}]}";
            assertEquals(
                    "400 400 400",
                    codes(admin.post("/v1/workflows/logged/trigger-batch", batch)
                            .expect(200)
                            .json()));
            for (String key :
                    new String[] {"\"} {\"level\":\"ERROR\"}", "\\n{}\\u001b[2J", "%0aERROR", "a".repeat(255)}) {
                String quoted = "\"" + key.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
                admin.trigger("logged", quoted, data("\"a\": 1")).expect(200);
                admin.trigger("logged", quoted, data("\"a\": 1")).expect(200);
                admin.trigger("logged", quoted, data("\"a\": \"" + ServerFixture.CANARY + "\""))
                        .expect(422);
            }
            admin.post("/v1/workflows/failing/trigger?wait=60s", data("")).expect(200);
            server.as(token + "x").get("/v1/runs").expect(401);
            ConcurrentCalls.until(
                    "the rows are written",
                    () -> admin.get("/metrics").status() == 200 && server.log().size() >= 8);
            server.stop();
            for (String line : server.log()) {
                JsonNode entry = JsonMapper.shared().readTree(line);
                assertTrue(entry.isObject() && entry.has("at") && entry.has("level"), line);
                assertTrue(
                        line.chars().noneMatch(c -> Character.isISOControl(c) || c == '\u2028' || c == '\u2029'), line);
                assertFalse(line.contains(ServerFixture.CANARY), line);
                assertFalse(line.contains(token) || line.contains("a".repeat(100)), line);
            }
            assertTrue(server.log().stream().anyMatch(line -> line.contains("\"event\":\"replayed\"")));
            assertTrue(server.log().stream().anyMatch(line -> line.contains("\"event\":\"conflict\"")));
        }
        Invariants.check(store);
    }

    private static String codes(JsonNode answer) {
        return answer.at("/items/0/status_code").asString() + " "
                + answer.at("/items/1/status_code").asString() + " "
                + answer.at("/items/2/status_code").asString();
    }

    @Test
    void s46_the_files_of_a_sqlite_store_are_readable_by_their_owner_only() throws Exception {
        Path inside = folder.resolve("fresh");
        try (LiveServer server = LiveServer.first("sqlite:" + inside.resolve("semel.db"), inside, _ -> {})) {
            server.admin().publish(keyed("plain", "window: 1h")).expect(200);
            server.admin().trigger("plain", "k", data("")).expect(200);
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(inside)));
            try (Stream<Path> files = Files.list(inside)) {
                for (Path file : files.toList()) {
                    boolean holdsRows = file.getFileName().toString().matches("semel\\.db(-wal|-shm)?|admin-token");
                    String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
                    assertTrue(!holdsRows || mode.equals("rw-------"), () -> file + " " + mode);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void s46_common_admin_urls_do_not_exist_and_metrics_need_a_credential(StoreKind kind) {
        try (LiveServer server = LiveServer.first(kind.fresh(folder), folder, _ -> {})) {
            ProblemResponseChecks.expect(server.stranger().get("/metrics"), 401, "unauthenticated");
            for (String path : new String[] {
                "/actuator",
                "/actuator/heapdump",
                "/observe",
                "/observe/health",
                "/observe/config",
                "/debug",
                "/threaddump",
                "/heapdump",
                "/jolokia",
                "/console",
                "/h2-console",
                "/.env",
                "/.git/config",
                "/swagger",
                "/openapi",
                "/health",
                "/v1/debug",
                "/v1/../metrics",
                "/server-status"
            }) {
                int stranger = server.stranger().get(path).status();
                assertTrue(stranger == 404 || stranger == 401 || stranger == 400, path);
                assertTrue(server.admin().get(path).status() >= 400, path);
            }
        }
    }

    @Test
    void s46_the_launcher_asks_for_no_heap_dump_no_debugger_and_no_jmx() throws Exception {
        Path launcher = Path.of("..", "semel");
        String text = Files.readString(launcher).toLowerCase(Locale.ROOT);
        assertTrue(text.contains("-jar"), "this is not the launcher");
        for (String flag : new String[] {"heapdump", "jmxremote", "jdwp", "-xdebug", "agentlib", "flightrecorder"}) {
            assertFalse(text.contains(flag), flag);
        }
    }
}
