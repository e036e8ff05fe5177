package dev.semel.server.cli;

import static dev.semel.server.cli.ScriptedServer.json;
import static dev.semel.server.cli.ScriptedServer.problem;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.cli.server.DoctorChecks;
import dev.semel.server.cli.server.DoctorFinding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

class DoctorCommandTest {
    private ScriptedServer server;
    private CliTestTerminal client;

    @BeforeEach
    void open(@TempDir Path folder) throws IOException {
        server = new ScriptedServer();
        client = new CliTestTerminal(server);
        client.folder = folder;
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void a_healthy_server_passes_all_checks() {
        well();
        var result = client.run("doctor", "--json", "--port", Integer.toString(server.port()));
        assertEquals(0, result.exit(), result.out());
        assertEquals(
                Map.of(
                        "java", "ok", "port", "ok", "store", "ok", "secrets", "ok", "server", "ok", "ready", "ok",
                        "clock", "ok", "token", "ok"),
                grades(result.json()));
        assertTrue(result.json().path("ok").asBoolean());
    }

    @Test
    void each_failed_check_says_what_to_do() {
        server.on("GET /healthz", json(200, "{\"status\":\"ok\"}").with("Date", "Sun, 15 Nov 2026 08:12:04 GMT"))
                .on("GET /readyz", problem(503, "store-unavailable", true))
                .on("GET /v1/workflows", problem(401, "unauthenticated", false));
        var result = client.run("doctor", "--json", "--port", Integer.toString(server.port()));
        assertEquals(1, result.exit());
        assertEquals(
                Map.of(
                        "java", "ok", "port", "ok", "store", "ok", "secrets", "ok", "server", "ok", "ready", "fail",
                        "clock", "warn", "token", "fail"),
                grades(result.json()));
        for (JsonNode check : result.json().path("checks")) {
            assertEquals(!check.path("result").asString().equals("ok"), check.has("fix"), check.toString());
        }
    }

    @Test
    void another_program_on_the_port_is_distinguished_from_semel() {
        server.on("GET /healthz", json(200, "{}")).on("GET /v1/workflows", json(200, "{\"hello\":1}"));
        var result = client.run("doctor", "--port", Integer.toString(server.port()));
        assertEquals(1, result.exit());
        assertTrue(result.out().contains("in use by a program that is not Semel"), result.out());
        assertTrue(result.out().contains("answered by a program that is not Semel"), result.out());
    }

    @Test
    void an_unreachable_server_is_a_failure_only_if_one_was_named() {
        int port = server.port();
        server.close();
        var named = client.run("doctor", "--json", "--port", Integer.toString(port));
        assertEquals("fail", grades(named.json()).get("server"));
        assertEquals("ok", grades(named.json()).get("port"));
        assertEquals(1, named.exit());
    }

    @Test
    void a_data_folder_that_is_a_file_fails() throws IOException {
        well();
        Files.writeString(client.folder.resolve("file"), "");
        var result = client.run("doctor", "--json", "--data", "file/inside", "--port", Integer.toString(server.port()));
        assertEquals("fail", grades(result.json()).get("store"));
    }

    @Test
    void the_doctor_leaves_nothing_behind() throws IOException {
        well();
        client.run("doctor", "--port", Integer.toString(server.port()));
        try (var files = Files.list(client.folder)) {
            assertEquals(0, files.count());
        }
    }

    @ParameterizedTest
    @CsvSource({"2000,OK", "1000,WARN", "99,FAIL"})
    void little_disk_is_a_warning_and_none_a_failure(long mib, DoctorFinding.Severity grade) {
        assertEquals(grade, DoctorChecks.checkDiskSpace(Path.of("x"), mib).severity());
    }

    @ParameterizedTest
    @CsvSource({"17,FAIL", "25,OK", "26,OK"})
    void an_old_java_fails(int version, DoctorFinding.Severity grade) {
        assertEquals(grade, DoctorChecks.checkJava(version, "/jdk").severity());
    }

    @ParameterizedTest
    @CsvSource({"09:12:04,OK", "09:12:03,OK", "09:11:57,WARN", "09:12:20,WARN", "09:12:10,OK"})
    void clocks_may_differ_by_five_seconds(String server, DoctorFinding.Severity grade) {
        Instant before = Instant.parse("2026-11-15T09:12:04.500Z");
        Instant after = before.plusSeconds(1);
        assertEquals(
                grade,
                DoctorChecks.checkClock(Instant.parse("2026-11-15T" + server + "Z"), before, after)
                        .severity());
    }

    private void well() {
        server.on("GET /healthz", json(200, "{\"status\":\"ok\"}").with("Date", "Sun, 15 Nov 2026 09:12:04 GMT"))
                .on("GET /readyz", json(200, "{\"status\":\"ok\"}"))
                .on("GET /v1/workflows", json(200, "{\"items\":[],\"next\":null}"));
    }

    private static Map<String, String> grades(JsonNode document) {
        Map<String, String> grades = new TreeMap<>();
        document.path("checks")
                .forEach(check -> grades.put(
                        check.path("name").asString(), check.path("result").asString()));
        return grades;
    }
}
