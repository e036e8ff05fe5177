package dev.semel;

import dev.semel.engine.EngineEnvironment;
import dev.semel.engine.EngineLimits;
import dev.semel.json.StrictJson;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreFixture;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
import dev.semel.workflow.WorkflowBody;
import dev.semel.workflow.WorkflowVersion;
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

    public final StoreFixture place;
    private final EngineLimits limits;
    private final Map<String, WorkflowSetup> definitions = new ConcurrentHashMap<>();
    private final AtomicInteger texts = new AtomicInteger();
    private final List<Semel> workers = new ArrayList<>();
    private final AtomicLong skipped = new AtomicLong();
    private final StoredRows.WorkspaceRow workspace;

    private record WorkflowSetup(KeyPolicyBuilder policy, WorkflowBody body) {}

    public EngineTestBench(Dialect dialect) {
        this(dialect, EngineLimits.DEFAULT);
    }

    public EngineTestBench(Dialect dialect, EngineLimits limits) {
        this.place = dialect.emptied();
        this.limits = limits;
        this.workspace = start().change(new StoreCommand.CreateWorkspace("bench", new byte[32]));
    }

    /** One more worker. SQLite has one at a time: close the others first. */
    public Semel start() {
        EngineEnvironment ambient =
                new EngineEnvironment(place::time, () -> System.nanoTime() + skipped.get(), new SecureRandom());
        Semel worker = Semel.open(
                SemelOptions.of(place.url(), this::compile).withLimits(limits).withClock(ambient, () -> 0));
        workers.add(worker);
        return worker;
    }

    /** So much time passes for the workers, by the clock that only they go by: pauses are over, and leases that are shorter. */
    public void skip(Duration time) {
        skipped.addAndGet(time.toNanos());
    }

    private WorkflowVersion compile(StoredRows.VersionRow version) {
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
                List.of());
    }

    /** The worker that was started first and is not closed. */
    public Semel semel() {
        return workers.getFirst();
    }

    public int workspace() {
        return workspace.ws();
    }

    public byte[] secret() {
        return workspace.secret();
    }

    /** A clean stop of one worker. */
    public void stop(Semel worker) {
        workers.remove(worker);
        worker.close();
    }

    /** A clean stop of the only worker and a new start. */
    public void restart() {
        stop(semel());
        start();
    }

    public StoredRows.WorkflowRow publish(String name, KeyPolicyBuilder policy, WorkflowBody body) {
        String text = text(name, policy, body);
        return semel().change(new StoreCommand.PublishVersion(workspace.ws(), name, "wf_" + name, text, "tester"));
    }

    /** For a share of the fresh triggers, in per cent. */
    public StoredRows.WorkflowRow stage(String name, KeyPolicyBuilder policy, WorkflowBody body, int share) {
        StoredRows.WorkflowRow staged = semel().changeOrNull(new StoreCommand.StageCandidate(
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

    public StoredRows.RunRow run(RunId id) {
        StoredRows.RunRow run = semel().view(reads -> reads.run(workspace.ws(), id));
        if (run == null) {
            throw new AssertionError("there is no run " + id);
        }
        return run;
    }

    /** The run as it ended. */
    public StoredRows.RunRow ended(RunId id) {
        Await.until("run " + id + " ends", () -> run(id).end() != null);
        return run(id);
    }

    public JsonNode output(RunId id) {
        StoredRows.RunEnd end = ended(id).end();
        if (end == null || end.result().output() == null) {
            throw new AssertionError("run " + id + " has no output: " + end);
        }
        return StrictJson.parse(end.result().output());
    }

    public List<StoreWrite.DuplicateRequest> requests(RunId id) {
        List<StoreWrite.DuplicateRequest> rows = semel().view(reads -> reads.requestsOf(id, null, 10_000));
        return rows == null ? List.of() : rows;
    }

    public long runs() {
        return place.count("semel_run");
    }

    @Override
    public void close() {
        workers.forEach(Semel::close);
        try {
            Invariants.check(place);
        } finally {
            place.close();
        }
    }
}
