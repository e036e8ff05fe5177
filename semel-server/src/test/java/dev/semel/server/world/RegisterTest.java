package dev.semel.server.world;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.server.api.FileWorkflow;
import dev.semel.server.settings.SecretKeys;
import dev.semel.server.settings.Settings;
import dev.semel.server.steps.Outside;
import dev.semel.store.Edit;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What steps change of people, on a real store. */
class RegisterTest {
    private static final int ROUNDS = 150;

    @TempDir
    Path folder = Path.of("");

    private Semel semel;
    private Register register;

    @BeforeEach
    void open() {
        semel = Semel.open(dev.semel.Settings.of(
                "sqlite:" + folder.resolve("semel.db"),
                version -> FileWorkflow.compile(version, _ -> Outside.NOWHERE)));
        int workspace =
                semel.change(new Edit.OpenWorkspace("one", new byte[32])).ws();
        register = new Register(semel, new Settings(semel, SecretKeys.none()), workspace);
    }

    @AfterEach
    void close() {
        semel.close();
    }

    /** Each changes a field that nobody else touches, so each must find it as it was left. */
    @Test
    void of_two_who_change_one_profile_at_once_neither_undoes_the_other() throws Exception {
        register.findOrCreate("u-1", Json.parse("{\"phone\":\"+4930100000\",\"chat\":\"@0\"}"));
        try (var threads = Executors.newFixedThreadPool(2)) {
            List<Callable<Integer>> both = List.of(() -> changes("phone", "+493010000"), () -> changes("chat", "@"));
            for (var one : threads.invokeAll(both)) {
                assertEquals(0, one.get(), "changes that were undone");
            }
        }
        JsonNode last = Objects.requireNonNull(register.find("u-1"));
        assertEquals("+493010000" + ROUNDS, last.path("phone").asString());
        assertEquals("@" + ROUNDS, last.path("chat").asString());
    }

    private int changes(String field, String front) {
        int undone = 0;
        for (int i = 1; i <= ROUNDS; i++) {
            JsonNode before = Objects.requireNonNull(register.find("u-1"));
            undone += before.path(field).asString("").equals(front + (i - 1)) ? 0 : 1;
            register.update("u-1", Json.parse("{\"" + field + "\":\"" + front + i + "\"}"));
        }
        return undone;
    }
}
