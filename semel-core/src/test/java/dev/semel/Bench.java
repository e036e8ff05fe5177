package dev.semel;

import dev.semel.engine.Ambient;
import dev.semel.engine.Limits;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Dialect;
import dev.semel.store.Edit;
import dev.semel.store.Invariants;
import dev.semel.store.Place;
import dev.semel.store.Rows;
import dev.semel.store.Waiting;
import dev.semel.store.Write;
import dev.semel.workflow.Body;
import dev.semel.workflow.Published;
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
public final class Bench implements AutoCloseable {
    /** A body that is done at once. */
    public static final Body ECHO = (_, input) -> input;

    public final Place place;
    private final Limits limits;
    private final Map<String, Definition> definitions = new ConcurrentHashMap<>();
    private final AtomicInteger texts = new AtomicInteger();
    private final List<Semel> workers = new ArrayList<>();
    private final AtomicLong skipped = new AtomicLong();
    private final Rows.Workspace workspace;

    private record Definition(Policy policy, Body body) {}

    public Bench(Dialect dialect) {
        this(dialect, Limits.DEFAULT);
    }

    public Bench(Dialect dialect, Limits limits) {
        this.place = dialect.emptied();
        this.limits = limits;
        this.workspace = start().change(new Edit.OpenWorkspace("bench", new byte[32]));
    }

    /** One more worker. SQLite has one at a time: close the others first. */
    public Semel start() {
        Ambient ambient = new Ambient(place::time, () -> System.nanoTime() + skipped.get(), new SecureRandom());
        Semel worker = Semel.open(
                Settings.of(place.url(), this::compile).withLimits(limits).withClock(ambient, () -> 0));
        workers.add(worker);
        return worker;
    }

    /** So much time passes for the workers, by the clock that only they go by: pauses are over, and leases that are shorter. */
    public void skip(Duration time) {
        skipped.addAndGet(time.toNanos());
    }

    private Published compile(Rows.Version version) {
        Definition definition = definitions.get(version.body());
        if (definition == null) {
            throw new IllegalStateException("this worker does not understand " + version.body());
        }
        return new Published(
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

    public Rows.Workflow publish(String name, Policy policy, Body body) {
        String text = text(name, policy, body);
        return semel().change(new Edit.Publish(workspace.ws(), name, "wf_" + name, text, "tester"));
    }

    /** For a share of the fresh triggers, in per cent. */
    public Rows.Workflow stage(String name, Policy policy, Body body, int share) {
        Rows.Workflow staged =
                semel().maybeChange(new Edit.Stage(workspace.ws(), name, text(name, policy, body), share, "tester"));
        if (staged == null) {
            throw new AssertionError("no workflow " + name);
        }
        return staged;
    }

    private String text(String name, Policy policy, Body body) {
        String text = name + "#" + texts.incrementAndGet();
        definitions.put(text, new Definition(policy, body));
        return text;
    }

    /** From now on workers cannot read the newest text of a workflow; gives it back when closed. */
    public AutoCloseable forget(String name) {
        String text = name + "#" + texts.get();
        Definition definition = definitions.remove(text);
        if (definition == null) {
            throw new IllegalStateException("the newest text is not of " + name);
        }
        return () -> definitions.put(text, definition);
    }

    public Asking ask(String workflow) {
        return new Asking(this, workflow);
    }

    public Rows.Run run(RunId id) {
        Rows.Run run = semel().view(reads -> reads.run(workspace.ws(), id));
        if (run == null) {
            throw new AssertionError("there is no run " + id);
        }
        return run;
    }

    /** The run as it ended. */
    public Rows.Run ended(RunId id) {
        Waiting.until("run " + id + " ends", () -> run(id).end() != null);
        return run(id);
    }

    public JsonNode output(RunId id) {
        Rows.End end = ended(id).end();
        if (end == null || end.ending().output() == null) {
            throw new AssertionError("run " + id + " has no output: " + end);
        }
        return Json.parse(end.ending().output());
    }

    public List<Write.Seen> requests(RunId id) {
        List<Write.Seen> rows = semel().view(reads -> reads.requestsOf(id, null, 10_000));
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
