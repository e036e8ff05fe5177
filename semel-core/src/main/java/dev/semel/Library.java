package dev.semel;

import dev.semel.engine.Catalog;
import dev.semel.engine.Children;
import dev.semel.engine.Limits;
import dev.semel.engine.ReplayDoor;
import dev.semel.engine.RunLoop;
import dev.semel.engine.TickDoor;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.ChosenRunId;
import dev.semel.key.IdempotencyKey;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Doors;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Published;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Registers and publishes workflows written in Java, and starts, finds and signals their runs. */
final class Library implements Children.Starter, Children.Signaller, TickDoor.Desk {
    private static final String WORKSPACE = "default";
    private static final String ACTOR = "library";

    private static final Workflow<JsonNode, JsonNode> ANY =
            Workflow.define("any", JsonNode.class, JsonNode.class).body((_, input) -> input);

    private final Semel semel;
    private final Limits limits;
    private final ConcurrentHashMap<String, Workflow<?, ?>> known = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Trigger.Space> spaces = new ConcurrentHashMap<>();
    private volatile Trigger.@Nullable Space home;

    Library(Semel semel, Limits limits) {
        this.semel = semel;
        this.limits = limits;
    }

    /** The workspace of runs that Java code starts; created on first use. */
    Trigger.Space home() {
        Trigger.Space space = home;
        if (space == null) {
            Rows.Workspace row = semel.change(new Edit.OpenWorkspace(WORKSPACE, semel.newSecret(32)));
            space = new Trigger.Space(row.ws(), row.secret());
            spaces.put(row.ws(), space);
            home = space;
        }
        return space;
    }

    @Override
    public Trigger.Space space(int workspace) {
        return spaces.computeIfAbsent(workspace, ws -> {
            Rows.Workspace row = Objects.requireNonNull(semel.view(reads -> reads.workspace(ws)), "workspace");
            return new Trigger.Space(row.ws(), row.secret());
        });
    }

    @Override
    public Trigger.Checks checks(String name, JsonNode input) {
        Workflow<?, ?> workflow = known.get(name);
        return workflow == null ? Trigger.Checks.NONE : new Trigger.Checks(() -> workflow.checkInput(input), null);
    }

    boolean isKnown(String name) {
        return known.containsKey(name);
    }

    /** Adds the code of a workflow without publishing it. */
    void knows(Workflow<?, ?> workflow) {
        known.put(workflow.name(), workflow);
    }

    void register(Workflow<?, ?> workflow) {
        Workflow<?, ?> before = known.put(workflow.name(), workflow);
        if (before != null && before != workflow) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "workflow {0} was registered again; this process now uses the newer code",
                    workflow.name());
        }
        Rows.Workflow row = publishedAs(workflow);
        semel.registered(row.workflowId());
        semel.change(new Edit.WakeHeld(row.workflowId()));
    }

    /** Publishes only if the definition changed, because a publish briefly stops admissions on all workers. */
    private Rows.Workflow publishedAs(Workflow<?, ?> workflow) {
        int workspace = home().workspace();
        Rows.Workflow there = semel.view(reads -> {
            Rows.Workflow row = reads.workflow(workspace, workflow.name());
            Rows.Version version = row == null ? null : reads.version(row.workflowId(), row.version());
            return version != null && version.body().equals(workflow.descriptor()) ? row : null;
        });
        return there != null
                ? there
                : semel.change(new Edit.Publish(
                        workspace,
                        workflow.name(),
                        "wf_" + semel.newId().text().substring(4),
                        workflow.descriptor(),
                        ACTOR));
    }

    private static final System.Logger LOG = System.getLogger(Library.class.getName());

    /** Compiles a stored version, from the code in this process or from its YAML text. */
    Published compile(Rows.Version version, Catalog.Compiler files) {
        if (!version.body().startsWith("{\"semel\":1,\"java\":")) {
            return files.compile(version);
        }
        Workflow<?, ?> workflow = known.get(version.name());
        if (workflow == null) {
            throw new Catalog.NotKnownHere(version.name(), version.workflowId());
        }
        // Use the stored text: during a rolling deployment this process may have older or newer code than published.
        Doors doors = new Doors(workflow.subscriptionsOf(version.body()), Workflow.schedulesOf(version.body()));
        return new Published(
                version.workflowId(),
                version.name(),
                version.version(),
                workflow.policyOf(version.body()),
                workflow.body(),
                List.of(),
                new Published.Extras(workflow.gates(), workflow.deadline(), doors));
    }

    <I, O> Run<O> start(Workflow<I, O> workflow, I input, Start start) {
        Current current = current(home().workspace(), workflow.name());
        JsonNode data = workflow.inputOf(input);
        Trigger.Ties ties = Trigger.Ties.NONE;
        Door source = Door.LIBRARY;
        Trigger.DoorName follows = null;
        if (start.replayOf() != null) {
            Rows.Run original = requireRetained(find(start.replayOf()));
            if (!original.workflowId().equals(current.published().workflowId())) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "Run " + start.replayOf() + " is not a run of workflow \"" + workflow.name()
                                + "\". It was not replayed and no run was started.",
                        "Replay the run with the workflow that it was started with.");
            }
            if (!start.otherInput() && !workflow.isInput(data, Json.parse(original.input()))) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "Run " + start.replayOf()
                                + " had a different input. A replay would reuse its recorded effects for this input,"
                                + " so the run was not replayed and no run was started.",
                        "Replay it with its original input, or start a new run. To reuse the recorded effects with a"
                                + " different input, use Start.replayWithOtherInput(…).");
            }
            ties = new Trigger.Ties(original.lineage(), null, original.id(), null);
            source = Door.REPLAY;
            follows = semel.view(reads -> ReplayDoor.following(reads, original.id()));
        }
        StartRequest request = new StartRequest(home(), current, data, start, ties, source, follows);
        Answer result = semel.trigger(trigger(request, workflow));
        if (follows != null && result.mismatch()) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Run " + start.replayOf() + " was already replayed with a different input, by run "
                            + result.runId() + ". No run was started.",
                    "Use that run, or replay that run.");
        }
        return new Run<>(semel, new Run.Named(result.run(), result.runId(), result.replayed()), workflow);
    }

    /** Rejects a replay of a run whose record is about to be deleted, because the replay reuses its effects. */
    private Rows.Run requireRetained(Rows.Run original) {
        Rows.End end = original.end();
        if (end != null && isNearDeletion(end.endedAt())) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Run " + original.runIdText() + " is past its retention period and its record is being deleted. No"
                            + " run was started.",
                    "Start a new run. The effects of the old run are no longer recorded.");
        }
        return original;
    }

    /** Whether retention deletes runs that ended at this time, now or within the next hour. */
    private boolean isNearDeletion(long endedAt) {
        long kept = limits.payloads().minusHours(1).toNanos() / 1_000;
        Long now = semel.view(reads -> reads.now());
        return now != null && endedAt < now - kept;
    }

    private record StartRequest(
            Trigger.Space space,
            Current current,
            JsonNode data,
            Start start,
            Trigger.Ties ties,
            Door source,
            Trigger.@Nullable DoorName follows) {}

    private static Trigger trigger(StartRequest request, @Nullable Workflow<?, ?> workflow) {
        Start start = request.start();
        String key = start.key();
        boolean named = key != null
                || start.id() != null
                || start.replayOf() != null
                || request.ties().childOf() != null;
        if (!named && workflow != null) {
            key = workflow.derivedKey(request.data());
        }
        if (key == null && request.current().published().policy().requireKey() && start.replayOf() == null) {
            throw new SemelException(
                    ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                    "Workflow \"" + request.current().published().name() + "\" requires a key and the start has none."
                            + " No run was started.",
                    "Start it with Start.withKey(…), or declare keyedBy(…) in the workflow.");
        }
        return new Trigger(
                request.space(),
                request.current(),
                request.data(),
                Json.write(request.data()),
                new Trigger.Names(
                        key == null ? null : IdempotencyKey.of(key),
                        start.id() == null ? null : new ChosenRunId(start.id()),
                        request.follows()),
                new Trigger.Sender(request.source(), ACTOR, start.correlationId()),
                false,
                workflow == null
                        ? Trigger.Checks.NONE
                        : new Trigger.Checks(() -> workflow.checkInput(request.data()), null),
                request.ties(),
                start.delay() == null ? 0 : start.delay().toNanos() / 1_000);
    }

    private Current current(int workspace, String name) {
        Current current = semel.workflow(workspace, name);
        if (current == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no workflow \"" + name + "\" in this workspace. No run was started.",
                    "Register the workflow first: semel.register(…).");
        }
        return current;
    }

    @Override
    public RunId start(RunLoop.Resident parent, Durable.Child child, String stepId) {
        Current current = current(parent.workspace(), child.workflow());
        if (child.start().replayOf() != null) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The call of workflow \"" + child.workflow() + "\" uses Start.replayOf(…), which a child workflow"
                            + " does not support. No run was started.",
                    "Call it without replayOf: a replayed parent finds the same child run again.");
        }
        Trigger.Ties ties = new Trigger.Ties(null, parent.id(), null, stepId, "", parent.depth());
        StartRequest request = new StartRequest(
                space(parent.workspace()), current, child.input(), child.start(), ties, Door.CHILD, null);
        return semel.trigger(trigger(request, known.get(child.workflow()))).run();
    }

    @Override
    public String workflowId(RunLoop.Resident parent, Durable.Child child) {
        return current(parent.workspace(), child.workflow()).published().workflowId();
    }

    @Override
    public void stop(RunLoop.Resident parent, RunId child) {
        String actor = "run " + parent.runId();
        semel.change(new Edit.Cancel(parent.workspace(), child, actor, "the parent run is ending"));
        semel.runs().cancel(child);
        semel.lookForWork();
    }

    @Override
    public Edit.Signalled signal(int workspace, Durable.Outgoing signal, String key) {
        Rows.Run run = find(workspace, signal.runId());
        return signal(run, signal.signal(), Json.write(signal.value()), key);
    }

    Edit.Signalled signal(Rows.Run run, String name, String value, String key) {
        Edit.Signalled delivered = semel.change(new Edit.Signal(run.ws(), run.id(), name, key, value));
        if (!semel.runs().wake(run.id())) {
            semel.lookForWork();
        }
        return delivered;
    }

    <I, O> Run<O> run(Workflow<I, O> workflow, String runId) {
        Rows.Run row = find(runId);
        return new Run<>(semel, new Run.Named(row.id(), row.runIdText(), true), workflow);
    }

    /** A run of any workflow of a workspace, for operators. */
    Run<JsonNode> run(int workspace, String runId) {
        Rows.Run row = find(workspace, runId);
        return new Run<>(semel, new Run.Named(row.id(), row.runIdText(), true), ANY);
    }

    private Rows.Run find(String runId) {
        return find(home().workspace(), runId);
    }

    /** Finds a run by its public id: generated, or chosen by the caller. */
    Rows.Run find(int workspace, String runId) {
        RunId id = RunId.parse(runId);
        Rows.Run run = id == null ? null : semel.view(reads -> reads.run(workspace, id));
        if (run == null) {
            run = semel.view(reads -> {
                var chosen = reads.names(List.of(new Name(workspace, Name.Kind.RUN, runId)))
                        .known()
                        .getFirst();
                return chosen == null ? null : reads.run(workspace, chosen.run());
            });
        }
        if (run == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no run " + runId + " in this workspace. Nothing was changed.",
                    "Use the id of a run that start(…) returned.");
        }
        return run;
    }
}
