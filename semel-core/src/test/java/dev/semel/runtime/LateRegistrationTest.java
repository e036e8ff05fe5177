package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After a start a worker takes up runs while the program still registers its workflows. */
final class LateRegistrationTest {
    @TempDir
    Path folder;

    @Test
    void a_workflow_registered_while_its_run_is_returned_still_runs() {
        RuntimeOptions knowing =
                RuntimeOptions.of("sqlite:" + folder.resolve("semel.db"), LateRegistrationTest::published);
        DatabaseRows.WorkspaceRow space;
        RunId run;
        try (SemelRuntime before = SemelRuntime.open(knowing)) {
            space = before.change(new StoreWriteCommand.CreateWorkspace("default", new byte[32]));
            before.change(new StoreWriteCommand.PublishVersion(space.ws(), "late", "wf_late", "late", "tester"));
            run = ask(before, space);
        }
        AtomicReference<SemelRuntime> second = new AtomicReference<>();
        AtomicBoolean first = new AtomicBoolean(true);
        RuntimeOptions learning = RuntimeOptions.of(knowing.store(), version -> {
            if (first.getAndSet(false)) {
                // Exactly now the program registers it, and the worker has not yet noted that it does not know it.
                Objects.requireNonNull(second.get()).onRegistered(version.workflowId());
                throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
            }
            return published(version);
        });
        try (SemelRuntime worker = SemelRuntime.open(learning)) {
            second.set(worker);
            worker.change(new StoreWriteCommand.SendSignal(space.ws(), run, "go", "once", "\"now\""));
            DatabaseRows.RunRow ended = worker.await(space.ws(), run, Duration.ofSeconds(20));
            assertNotNull(ended);
            assertEquals(RunState.COMPLETED, ended.state());
        }
    }

    private static WorkflowVersion published(DatabaseRows.VersionRow version) {
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                KeyPolicyBuilder.plain().build(),
                (durable, _) -> Objects.requireNonNull(durable.await("go", "go", null)),
                List.of(),
                WorkflowVersion.VersionOptions.NONE);
    }

    private static RunId ask(SemelRuntime semel, DatabaseRows.WorkspaceRow space) {
        WorkflowCatalogEntry current = Objects.requireNonNull(semel.workflow(space.ws(), "late"));
        return semel.trigger(new Trigger(
                        new Trigger.TriggerWorkspace(space.ws(), space.secret()),
                        current,
                        StrictJsonCodec.parse("{}"),
                        "{}",
                        new Trigger.Identifiers(null, null),
                        new Trigger.Sender(TriggerSource.LIBRARY, "tester", null),
                        false,
                        null))
                .run();
    }
}
