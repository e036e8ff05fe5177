package dev.semel.runtime;

import dev.semel.admission.ChosenRunId;
import dev.semel.admission.IdempotencyKey;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.JavaWorkflow;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowTriggers;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.ChildRunStepExecutor;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.ReplayRunStarter;
import dev.semel.engine.RunExecutor;
import dev.semel.engine.ScheduleTickAdmission;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StorableText;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.RunDeduplicationKey;
import dev.semel.store.StoreWriteCommand;
import dev.semel.trigger.Trigger;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.TriggerSource;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

final class JavaWorkflowRegistry
        implements ChildRunStepExecutor.ChildStarter,
                ChildRunStepExecutor.SignalSender,
                ScheduleTickAdmission.WorkspaceLookup {
    private static final String WORKSPACE = "default";
    private static final String ACTOR = "library";

    private static final Workflow<JsonNode, JsonNode> ANY =
            Workflow.define("any", JsonNode.class, JsonNode.class).body((_, input) -> input);

    private final SemelRuntime semel;
    private final EngineLimits limits;
    private final ConcurrentHashMap<String, JavaWorkflow<?, ?>> workflows = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Trigger.TriggerWorkspace> spaces = new ConcurrentHashMap<>();
    private volatile Trigger.@Nullable TriggerWorkspace defaultWorkspace;

    JavaWorkflowRegistry(SemelRuntime semel, EngineLimits limits) {
        this.semel = semel;
        this.limits = limits;
    }

    /** The workspace of runs that Java code starts; created on first use. */
    Trigger.TriggerWorkspace defaultWorkspace() {
        Trigger.TriggerWorkspace space = defaultWorkspace;
        if (space == null) {
            DatabaseRows.WorkspaceRow row =
                    semel.change(new StoreWriteCommand.CreateWorkspace(WORKSPACE, semel.newSecret(32)));
            space = new Trigger.TriggerWorkspace(row.ws(), row.secret());
            spaces.put(row.ws(), space);
            defaultWorkspace = space;
        }
        return space;
    }

    @Override
    public Trigger.TriggerWorkspace space(int workspace) {
        return spaces.computeIfAbsent(workspace, ws -> {
            DatabaseRows.WorkspaceRow row =
                    Objects.requireNonNull(semel.view(reads -> reads.workspace(ws)), "workspace");
            return new Trigger.TriggerWorkspace(row.ws(), row.secret());
        });
    }

    @Override
    public Trigger.AdmissionChecks checksFor(String name, JsonNode input) {
        JavaWorkflow<?, ?> workflow = workflows.get(name);
        return workflow == null
                ? Trigger.AdmissionChecks.NONE
                : new Trigger.AdmissionChecks(() -> workflow.checkInput(input), null);
    }

    boolean isRegistered(String name) {
        return workflows.containsKey(name);
    }

    /** Adds the code of a workflow without publishing it. */
    void addCode(Workflow<?, ?> workflow) {
        workflows.put(workflow.name(), JavaWorkflow.of(workflow));
    }

    void register(Workflow<?, ?> registered) {
        JavaWorkflow<?, ?> workflow = JavaWorkflow.of(registered);
        JavaWorkflow<?, ?> before = workflows.put(workflow.name(), workflow);
        if (before != null && before != workflow) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "workflow {0} was registered again; this process now uses the newer code",
                    workflow.name());
        }
        DatabaseRows.WorkflowRow row = publishedAs(workflow);
        semel.onRegistered(row.workflowId());
        semel.change(new StoreWriteCommand.WakeHeldRuns(row.workflowId()));
    }

    /** Publishes only if the definition changed, because a publish briefly stops admissions on all workers. */
    private DatabaseRows.WorkflowRow publishedAs(JavaWorkflow<?, ?> workflow) {
        int workspace = defaultWorkspace().id();
        DatabaseRows.WorkflowRow there = semel.view(reads -> {
            DatabaseRows.WorkflowRow row = reads.workflow(workspace, workflow.name());
            DatabaseRows.VersionRow version = row == null ? null : reads.version(row.workflowId(), row.version());
            return version != null && version.body().equals(workflow.descriptor()) ? row : null;
        });
        return there != null
                ? there
                : semel.change(new StoreWriteCommand.PublishVersion(
                        workspace,
                        workflow.name(),
                        "wf_" + semel.newId().text().substring(4),
                        workflow.descriptor(),
                        ACTOR));
    }

    private static final System.Logger LOG = System.getLogger(JavaWorkflowRegistry.class.getName());

    /** Compiles a stored version, from the code in this process or from its YAML text. */
    WorkflowVersion compile(DatabaseRows.VersionRow version, WorkflowCatalog.VersionCompiler files) {
        if (!version.body().startsWith("{\"semel\":1,\"java\":")) {
            return files.compile(version);
        }
        JavaWorkflow<?, ?> workflow = workflows.get(version.name());
        if (workflow == null) {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        }
        // Use the stored text: during a rolling deployment this process may have older or newer code than published.
        WorkflowTriggers workflowTriggers = new WorkflowTriggers(
                workflow.subscriptionsOfVersion(version.body()), JavaWorkflow.schedulesOfVersion(version.body()));
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                workflow.policyOfVersion(version.body()),
                workflow.body(),
                List.of(),
                new WorkflowVersion.VersionOptions(workflow.concurrency(), workflow.deadline(), workflowTriggers));
    }

    <I, O> RunHandle<O> start(Workflow<I, O> started, I input, Start start) {
        JavaWorkflow<I, O> workflow = JavaWorkflow.of(started);
        WorkflowCatalogEntry current = current(defaultWorkspace().id(), workflow.name());
        JsonNode data = workflow.inputOf(input);
        Trigger.RunLinks runLinks = Trigger.RunLinks.NONE;
        TriggerSource source = TriggerSource.LIBRARY;
        Trigger.SourceKey follows = null;
        if (start.replayOf() != null) {
            DatabaseRows.RunRow original = requireRetained(find(start.replayOf()));
            if (!original.workflowId().equals(current.published().workflowId())) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "Run " + start.replayOf() + " is not a run of workflow \"" + workflow.name()
                                + "\". It was not replayed and no run was started.",
                        "Replay the run with the workflow that it was started with.");
            }
            if (!start.allowsOtherInput() && !workflow.isInput(data, StrictJsonCodec.parse(original.input()))) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "Run " + start.replayOf()
                                + " was started with a different input. A replay would use the effects recorded for"
                                + " that input. No run was started.",
                        "Replay the run with its original input, or start a new run. To reuse the recorded effects"
                                + " with a different input, use Start.replayWithOtherInput(…).");
            }
            runLinks = new Trigger.RunLinks(original.lineage(), null, original.id(), null);
            source = TriggerSource.REPLAY;
            follows = semel.view(reads -> ReplayRunStarter.keyFollowing(reads, original.id()));
        }
        StartRequest request = new StartRequest(defaultWorkspace(), current, data, start, runLinks, source, follows);
        TriggerResult result = semel.trigger(trigger(request, workflow));
        if (follows != null && result.payloadMismatch()) {
            throw new SemelException(
                    ErrorCode.REPLAY_REFUSED,
                    "Run " + start.replayOf() + " was already replayed with a different input, by run " + result.runId()
                            + ". No run was started.",
                    "Use that run, or replay that run.");
        }
        return new RunHandle<>(
                semel, new RunHandle.Identity(result.run(), result.runId(), result.replayed()), workflow);
    }

    /** Rejects a replay of a run whose record is about to be deleted, because the replay reuses its effects. */
    private DatabaseRows.RunRow requireRetained(DatabaseRows.RunRow original) {
        DatabaseRows.RunEnd end = original.end();
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
        long kept = limits.payloadRetention().minusHours(1).toNanos() / 1_000;
        Long now = semel.view(reads -> reads.now());
        return now != null && endedAt < now - kept;
    }

    private record StartRequest(
            Trigger.TriggerWorkspace space,
            WorkflowCatalogEntry current,
            JsonNode data,
            Start start,
            Trigger.RunLinks ties,
            TriggerSource source,
            Trigger.@Nullable SourceKey follows) {}

    private static Trigger trigger(StartRequest request, @Nullable JavaWorkflow<?, ?> workflow) {
        Start start = request.start();
        String key = start.key();
        boolean named = key != null
                || start.id() != null
                || start.replayOf() != null
                || request.ties().callerStepId() != null;
        if (!named && workflow != null) {
            key = workflow.derivedKey(request.data());
        }
        if (key == null && request.current().published().policy().requireKey() && start.replayOf() == null) {
            throw new SemelException(
                    ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                    "Workflow \"" + request.current().published().name()
                            + "\" requires a key, but the call of start(…) has none. No run was started.",
                    "Start the workflow with Start.withKey(…), or declare keyedBy(…) in the workflow.");
        }
        return new Trigger(
                request.space(),
                request.current(),
                request.data(),
                StrictJsonCodec.write(request.data()),
                new Trigger.Identifiers(
                        key == null ? null : IdempotencyKey.of(key),
                        start.id() == null ? null : new ChosenRunId(start.id()),
                        request.follows()),
                new Trigger.Sender(request.source(), ACTOR, start.correlationId()),
                false,
                workflow == null
                        ? Trigger.AdmissionChecks.NONE
                        : new Trigger.AdmissionChecks(() -> workflow.checkInput(request.data()), null),
                request.ties(),
                start.delay() == null ? 0 : start.delay().toNanos() / 1_000);
    }

    private WorkflowCatalogEntry current(int workspace, String name) {
        WorkflowCatalogEntry current = semel.workflow(workspace, name);
        if (current == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no workflow \"" + name + "\" in this workspace. No run was started.",
                    "Register the workflow first: semel.register(…).");
        }
        return current;
    }

    @Override
    public RunId start(RunExecutor.ActiveRun parent, DurableWorkflowOperations.ChildWorkflowCall child, String stepId) {
        WorkflowCatalogEntry current = current(parent.workspace(), child.workflow());
        if (child.start().replayOf() != null) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The call of workflow \"" + child.workflow() + "\" uses Start.replayOf(…), which a child workflow"
                            + " does not support. No run was started.",
                    "Call the child workflow without replayOf. A replay of the parent finds the same child run again.");
        }
        Trigger.RunLinks runLinks = new Trigger.RunLinks(null, parent.id(), null, stepId, "", parent.depth());
        StartRequest request = new StartRequest(
                space(parent.workspace()), current, child.input(), child.start(), runLinks, TriggerSource.CHILD, null);
        return semel.trigger(trigger(request, workflows.get(child.workflow()))).run();
    }

    @Override
    public String workflowId(RunExecutor.ActiveRun parent, DurableWorkflowOperations.ChildWorkflowCall child) {
        return current(parent.workspace(), child.workflow()).published().workflowId();
    }

    @Override
    public void stop(RunExecutor.ActiveRun parent, RunId child) {
        String actor = "run " + parent.runId();
        semel.change(new StoreWriteCommand.CancelRun(parent.workspace(), child, actor, "the parent run is ending"));
        semel.runExecutor().cancel(child);
        semel.lookForWork();
    }

    @Override
    public StoreWriteCommand.SignalResult signal(
            int workspace, DurableWorkflowOperations.OutgoingSignal signal, String key) {
        DatabaseRows.RunRow run = find(workspace, signal.runId());
        return signal(run, signal.signal(), StrictJsonCodec.write(signal.value()), key);
    }

    StoreWriteCommand.SignalResult signal(DatabaseRows.RunRow run, String name, String value, String key) {
        StoreWriteCommand.SignalResult delivered =
                semel.change(new StoreWriteCommand.SendSignal(run.ws(), run.id(), name, key, value));
        if (!semel.runExecutor().wake(run.id())) {
            semel.lookForWork();
        }
        if (delivered == StoreWriteCommand.SignalResult.FULL) {
            throw RunHandle.tooManySignals(run.runIdText());
        }
        return delivered;
    }

    <I, O> RunHandle<O> run(Workflow<I, O> workflow, String runId) {
        DatabaseRows.RunRow row = find(runId);
        WorkflowCatalogEntry published = semel.workflow(row.ws(), workflow.name());
        if (published == null || !published.published().workflowId().equals(row.workflowId())) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Run " + runId + " is not a run of workflow \"" + workflow.name() + "\". Nothing was changed.",
                    "Pass the workflow that started the run.");
        }
        return new RunHandle<>(semel, new RunHandle.Identity(row.id(), row.runIdText(), true), workflow);
    }

    RunHandle<JsonNode> run(int workspace, String runId) {
        DatabaseRows.RunRow row = find(workspace, runId);
        return new RunHandle<>(semel, new RunHandle.Identity(row.id(), row.runIdText(), true), ANY);
    }

    private DatabaseRows.RunRow find(String runId) {
        return find(defaultWorkspace().id(), runId);
    }

    /** Finds a run by its public id: generated, or chosen by the caller. */
    DatabaseRows.RunRow find(int workspace, String runId) {
        RunId id = RunId.parse(runId);
        DatabaseRows.RunRow run = id == null ? null : semel.view(reads -> reads.run(workspace, id));
        if (run == null && StorableText.isStorable(runId)) {
            run = semel.view(reads -> {
                var chosen = reads.findKeys(
                                List.of(new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.RUN, runId)))
                        .keyRecords()
                        .getFirst();
                return chosen == null ? null : reads.run(workspace, chosen.run());
            });
        }
        if (run == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no run " + runId + " in this workspace. Nothing was changed.",
                    "Use a run id that start(…) returned.");
        }
        return run;
    }
}
