package dev.semel.server.services;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.api.PublishedYamlWorkflow;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.steps.YamlStepDependencies;
import dev.semel.store.StoreWriteCommand;
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
class WorkspaceProfileDirectoryTest {
    private static final int ROUNDS = 150;

    @TempDir
    Path folder = Path.of("");

    private SemelRuntime semel;
    private WorkspaceProfileDirectory register;

    @BeforeEach
    void open() {
        semel = SemelRuntime.open(dev.semel.runtime.RuntimeOptions.of(
                "sqlite:" + folder.resolve("semel.db"),
                version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE)));
        int workspace = semel.change(new StoreWriteCommand.CreateWorkspace("one", new byte[32]))
                .ws();
        register = new WorkspaceProfileDirectory(
                semel, new WorkspaceSettingRepositories(semel, SecretEncryptionKeys.of("")), workspace);
    }

    @AfterEach
    void close() {
        semel.close();
    }

    /** Each changes a field that nobody else touches, so each must find it as it was left. */
    @Test
    void two_concurrent_changes_of_one_profile_both_apply() throws Exception {
        register.findOrCreate("u-1", StrictJsonCodec.parse("{\"phone\":\"+4930100000\",\"chat\":\"@0\"}"));
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
            register.update("u-1", StrictJsonCodec.parse("{\"" + field + "\":\"" + front + i + "\"}"));
        }
        return undone;
    }
}
