package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.semel.engine.WorkflowCatalog;
import dev.semel.json.StrictJson;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After a start a worker takes up runs while the program still registers its workflows. */
final class RegisteredLateTest {
    @TempDir
    Path folder;

    @Test
    void a_workflow_that_is_registered_while_its_run_is_given_up_is_driven_after_all() {
        RuntimeOptions knowing = RuntimeOptions.of("sqlite:" + folder.resolve("semel.db"), RegisteredLateTest::published);
        StoredRows.WorkspaceRow space;
        RunId run;
        try (SemelRuntime before = SemelRuntime.open(knowing)) {
            space = before.change(new StoreCommand.CreateWorkspace("default", new byte[32]));
            before.change(new StoreCommand.PublishVersion(space.ws(), "late", "wf_late", "late", "tester"));
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
            worker.change(new StoreCommand.SendSignal(space.ws(), run, "go", "once", "\"now\""));
            StoredRows.RunRow ended = worker.await(space.ws(), run, Duration.ofSeconds(20));
            assertNotNull(ended);
            assertEquals(RunState.COMPLETED, ended.state());
        }
    }

    private static WorkflowVersion published(StoredRows.VersionRow version) {
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                Policy.plain().build(),
                (durable, _) -> Objects.requireNonNull(durable.await("go", "go", null)),
                List.of());
    }

    private static RunId ask(SemelRuntime semel, StoredRows.WorkspaceRow space) {
        CurrentWorkflow current = Objects.requireNonNull(semel.workflow(space.ws(), "late"));
        return semel.trigger(new Trigger(
                        new Trigger.TriggerWorkspace(space.ws(), space.secret()),
                        current,
                        StrictJson.parse("{}"),
                        "{}",
                        new Trigger.Identifiers(null, null),
                        new Trigger.Sender(TriggerSource.LIBRARY, "tester", null),
                        false,
                        Trigger.AdmissionChecks.NONE))
                .run();
    }
}
