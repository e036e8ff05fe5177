package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.StepFailed;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowFunction;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Semel in a file of its own, and the ends that a process can have. */
public abstract class SqliteTestBase {
    protected static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    protected SemelRuntime semel;

    protected ClockAndRandomSource ambient() {
        return ClockAndRandomSource.real();
    }

    protected EngineLimits limits() {
        return EngineLimits.DEFAULT;
    }

    @BeforeEach
    protected void open() {
        RuntimeOptions settings = RuntimeOptions.of("sqlite:" + file(), version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        });
        semel = SemelRuntime.open(settings.withClock(ambient(), () -> 0).withLimits(limits()));
    }

    @AfterEach
    void close() {
        semel.close();
    }

    protected Path file() {
        return folder.resolve("semel.db");
    }

    /** A clean stop and a new start. */
    protected void restart() {
        semel.close();
        open();
    }

    /** The worker dies with every run that it drives; another one is started. */
    protected void die() {
        die("");
    }

    /** The same; its runs of this workflow count as executed also where they are just being taken up again. */
    protected void die(String workflow) {
        String executed = semel.testAccess().ownedRuns().stream()
                .map(run -> "'" + HexFormat.of().withUpperCase().formatHex(run.bytes()) + "'")
                .collect(Collectors.joining(", "));
        semel.close(Duration.ZERO); // nobody waits for the code of a dead process
        sql("UPDATE semel_unfinished_run SET owner = 4711 WHERE owner IS NULL AND start_blocked = 0 AND state <> 4"
                + " AND state <> 5 AND (hex(run) IN (" + executed
                + ") OR workflow_id IN (SELECT workflow_id FROM semel_workflow WHERE"
                + " name = '" + workflow + "'))");
        open();
    }

    /** Changes rows behind the back of the engine, which is closed. */
    protected void sql(String statement) {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement one = connection.createStatement()) {
            one.execute(statement);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    protected static <O> Workflow<String, O> flow(Class<O> type, WorkflowFunction<String, O> body) {
        return Workflow.define("flow", String.class, type).body(body);
    }

    protected static Workflow<String, String> flow(WorkflowFunction<String, String> body) {
        return flow(String.class, body);
    }

    /** Registers and starts it. */
    protected <O> RunHandle<O> start(Workflow<String, O> flow) {
        semel.register(flow);
        return semel.start(flow, "x");
    }

    protected StepFailed failure(RunHandle<?> run) {
        return assertThrows(StepFailed.class, () -> run.result(SOON));
    }

    protected static void says(StepFailed failed, String what) {
        assertTrue(failed.detail().contains(what), failed.detail());
    }

    /** Makes it look again, as any hint does. */
    protected void wake(RunHandle<?> run) {
        semel.wake(Objects.requireNonNull(RunId.parse(run.id())));
    }

    protected static void untilWaiting(RunHandle<?> run, String what) {
        Await.until(
                "run " + run.id() + " waits for " + what,
                () -> Set.of(RunStatus.WAITING, RunStatus.HELD, RunStatus.IN_DOUBT)
                                .contains(run.status())
                        && String.valueOf(run.waitingFor()).contains("\"for\":\"" + what + "\""));
    }

    /** How many runs this worker has in memory. */
    protected int residents() {
        return semel.runExecutor().activeRunCount();
    }

    /** Another run of another workflow is not affected. */
    protected void othersGoOn() {
        Workflow<String, String> other = Workflow.define("other", String.class, String.class)
                .body((ctx, in) -> ctx.effect("send").repeatable("a test").call(String.class, _ -> "sent"));
        semel.register(other);
        assertEquals("sent", semel.start(other, "y").result(SOON));
    }
}
