package dev.semel.runtime;

import dev.semel.definition.WorkflowBody;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import dev.semel.store.StoreFixture;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.JsonNode;

/** Semel on a bench: a place, workers on it, workflows written in the test, and a clock that stands still. */
public final class EngineTestBench implements AutoCloseable {
    /** A body that is done at once. */
    public static final WorkflowBody ECHO = (_, input) -> input;

    public final StoreFixture fixture;
    private final EngineLimits limits;
    private final Map<String, WorkflowSetup> definitions = new ConcurrentHashMap<>();
    private final AtomicInteger texts = new AtomicInteger();
    private final List<SemelRuntime> workers = new ArrayList<>();
    private final AtomicLong skipped = new AtomicLong();
    private final DatabaseRows.WorkspaceRow workspace;

    private record WorkflowSetup(KeyPolicyBuilder policy, WorkflowBody body) {}

    public EngineTestBench(Dialect dialect) {
        this(dialect, EngineLimits.DEFAULT);
    }

    public EngineTestBench(Dialect dialect, EngineLimits limits) {
        this.fixture = dialect.emptied();
        this.limits = limits;
        this.workspace = start().change(new StoreWriteCommand.CreateWorkspace("bench", new byte[32]));
    }

    /** One more worker. SQLite has one at a time: close the others first. */
    public SemelRuntime start() {
        ClockAndRandomSource ambient =
                new ClockAndRandomSource(fixture::time, () -> System.nanoTime() + skipped.get(), new SecureRandom());
        SemelRuntime worker = SemelRuntime.open(RuntimeOptions.of(fixture.url(), this::compile)
                .withLimits(limits)
                .withClock(ambient, () -> 0));
        workers.add(worker);
        return worker;
    }

    /** So much time passes for the workers, by the clock that only they go by: pauses are over, and leases that are shorter. */
    public void skip(Duration time) {
        skipped.addAndGet(time.toNanos());
    }

    private WorkflowVersion compile(DatabaseRows.VersionRow version) {
        WorkflowSetup definition = definitions.get(version.body());
        if (definition == null) {
            throw new IllegalStateException("this worker does not understand " + version.body());
        }
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                definition.policy().build(),
                definition.body(),
                List.of(),
                WorkflowVersion.VersionOptions.NONE);
    }

    /** The worker that was started first and is not closed. */
    public SemelRuntime semel() {
        return workers.getFirst();
    }

    public int workspace() {
        return workspace.ws();
    }

    public byte[] secret() {
        return workspace.secret();
    }

    /** A clean stop of one worker. */
    public void stop(SemelRuntime worker) {
        workers.remove(worker);
        worker.close();
    }

    /** A clean stop of the only worker and a new start. */
    public void restart() {
        stop(semel());
        start();
    }

    public DatabaseRows.WorkflowRow publish(String name, KeyPolicyBuilder policy, WorkflowBody body) {
        String text = text(name, policy, body);
        return semel().change(new StoreWriteCommand.PublishVersion(workspace.ws(), name, "wf_" + name, text, "tester"));
    }

    /** For a share of the fresh triggers, in per cent. */
    public DatabaseRows.WorkflowRow stage(String name, KeyPolicyBuilder policy, WorkflowBody body, int share) {
        DatabaseRows.WorkflowRow staged = semel().changeOrNull(new StoreWriteCommand.StageCandidate(
                workspace.ws(), name, text(name, policy, body), share, "tester"));
        if (staged == null) {
            throw new AssertionError("no workflow " + name);
        }
        return staged;
    }

    private String text(String name, KeyPolicyBuilder policy, WorkflowBody body) {
        String text = name + "#" + texts.incrementAndGet();
        definitions.put(text, new WorkflowSetup(policy, body));
        return text;
    }

    /** From now on workers cannot read the newest text of a workflow; gives it back when closed. */
    public AutoCloseable forget(String name) {
        String text = name + "#" + texts.get();
        WorkflowSetup definition = definitions.remove(text);
        if (definition == null) {
            throw new IllegalStateException("the newest text is not of " + name);
        }
        return () -> definitions.put(text, definition);
    }

    public TriggerBuilder ask(String workflow) {
        return new TriggerBuilder(this, workflow);
    }

    public DatabaseRows.RunRow run(RunId id) {
        DatabaseRows.RunRow run = semel().view(reads -> reads.run(workspace.ws(), id));
        if (run == null) {
            throw new AssertionError("there is no run " + id);
        }
        return run;
    }

    /** The run as it ended. */
    public DatabaseRows.RunRow ended(RunId id) {
        Await.until("run " + id + " ends", () -> run(id).end() != null);
        return run(id);
    }

    public JsonNode output(RunId id) {
        DatabaseRows.RunEnd end = ended(id).end();
        if (end == null || end.result().output() == null) {
            throw new AssertionError("run " + id + " has no output: " + end);
        }
        return StrictJsonCodec.parse(end.result().output());
    }

    public List<StoreWrite.DuplicateRequest> requests(RunId id) {
        List<StoreWrite.DuplicateRequest> rows = semel().view(reads -> reads.requestsOf(id, null, 10_000));
        return rows == null ? List.of() : rows;
    }

    public long runs() {
        return fixture.count("semel_run");
    }

    @Override
    public void close() {
        workers.forEach(SemelRuntime::close);
        try {
            Invariants.check(fixture);
        } finally {
            fixture.close();
        }
    }
}
