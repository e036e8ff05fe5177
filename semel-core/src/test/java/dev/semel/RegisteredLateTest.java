package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.semel.engine.Catalog;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
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
        Settings knowing = Settings.of("sqlite:" + folder.resolve("semel.db"), RegisteredLateTest::published);
        Rows.Workspace space;
        RunId run;
        try (Semel before = Semel.open(knowing)) {
            space = before.change(new Edit.OpenWorkspace("default", new byte[32]));
            before.change(new Edit.Publish(space.ws(), "late", "wf_late", "late", "tester"));
            run = ask(before, space);
        }
        AtomicReference<Semel> second = new AtomicReference<>();
        AtomicBoolean first = new AtomicBoolean(true);
        Settings learning = Settings.of(knowing.store(), version -> {
            if (first.getAndSet(false)) {
                // Exactly now the program registers it, and the worker has not yet noted that it does not know it.
                Objects.requireNonNull(second.get()).knows(version.workflowId());
                throw new Catalog.NotKnownHere(version.name(), version.workflowId());
            }
            return published(version);
        });
        try (Semel worker = Semel.open(learning)) {
            second.set(worker);
            worker.change(new Edit.Signal(space.ws(), run, "go", "once", "\"now\""));
            Rows.Run ended = worker.await(space.ws(), run, Duration.ofSeconds(20));
            assertNotNull(ended);
            assertEquals(RunState.COMPLETED, ended.state());
        }
    }

    private static Published published(Rows.Version version) {
        return new Published(
                version.workflowId(),
                version.name(),
                version.version(),
                Policy.plain().build(),
                (durable, _) -> Objects.requireNonNull(durable.await("go", "go", null)),
                List.of());
    }

    private static RunId ask(Semel semel, Rows.Workspace space) {
        Current current = Objects.requireNonNull(semel.workflow(space.ws(), "late"));
        return semel.trigger(new Trigger(
                        new Trigger.Space(space.ws(), space.secret()),
                        current,
                        Json.parse("{}"),
                        "{}",
                        new Trigger.Names(null, null),
                        new Trigger.Sender(Door.LIBRARY, "tester", null),
                        false,
                        Trigger.Checks.NONE))
                .run();
    }
}
