package dev.semel.server.services;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.settings.RecipientGroupStore;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
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
    private WorkspaceSettingRepositories settings;
    private int workspace;

    @BeforeEach
    void open() {
        semel = SemelRuntime.open(dev.semel.runtime.RuntimeOptions.of(
                "sqlite:" + folder.resolve("semel.db"),
                version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE)));
        workspace = semel.change(new StoreWriteCommand.CreateWorkspace("one", new byte[32]))
                .ws();
        settings = new WorkspaceSettingRepositories(semel, SecretEncryptionKeys.of(""));
        register = new WorkspaceProfileDirectory(semel, settings, workspace);
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

    /** A message is not sent to somebody who opted out of its topic, however many topics there are. */
    @Test
    void a_recipient_with_more_than_200_topics_and_cohorts_has_all_of_them() {
        register.findOrCreate("u-1", StrictJsonCodec.parse("{\"chat\":\"@0\"}"));
        for (int i = 1_000; i < 1_230; i++) {
            semel.change(settings.subscriptions()
                    .preparePut(new RecipientTopicSubscriptionStore.SubscriptionChange(
                            workspace, "u-1", "topic-" + i, false, "tester")));
            semel.change(settings.cohorts()
                    .documents()
                    .preparePut(new WorkspaceSettingRepository.SettingDraft(
                            workspace, "cohort-" + i, StrictJsonCodec.parse("{}"), null, "tester")));
            semel.change(settings.cohorts()
                    .prepareAdd(new RecipientGroupStore.Membership(workspace, "cohort-" + i, "u-1"), "tester"));
        }
        var topics = settings.subscriptions().list(workspace, "u-1");
        assertEquals(230, topics.size());
        assertEquals("topic-1229", topics.getLast().topic());
        assertEquals(230, settings.cohorts().of(workspace, "u-1").size());
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
