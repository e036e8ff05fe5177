package dev.semel.runtime;

import dev.semel.Health;
import dev.semel.IdempotentCall;
import dev.semel.Semel;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.engine.GroupCommitter;
import dev.semel.engine.RunCompletions;
import dev.semel.engine.EngineCounters;
import dev.semel.engine.RunDispatcher;
import dev.semel.engine.TriggerAdmission;
import dev.semel.engine.LeaseKeeper;
import dev.semel.engine.StoreReadPool;
import dev.semel.engine.AdmissionDryRun;
import dev.semel.engine.ReplayAdmission;
import dev.semel.engine.ReplayExecutor;
import dev.semel.engine.RequestRecorder;
import dev.semel.engine.RunExecutor;
import dev.semel.engine.TickAdmission;
import dev.semel.engine.ScheduleTicker;
import dev.semel.engine.TransactionStep;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The engine behind {@link Semel}, with everything that the server and the test kit need beyond it. */
public final class SemelRuntime implements Semel {
    private final Store store;
    private final RuntimeOptions settings;
    private final EngineCounters counters = new EngineCounters();
    private final RunCompletions completions = new RunCompletions();
    private final LeaseKeeper leases;
    private final GroupCommitter committer;
    private final StoreReadPool readers;
    private final WorkerStatus workerStatus;
    private final RequestRecorder requests;
    private final TransactionStep desk;
    private final JavaWorkflowRegistry javaWorkflows;
    private final IdempotentCalls idempotentCalls = new IdempotentCalls(this);
    private final RunExecutor runExecutor;
    private final WorkflowCatalog catalog;
    private final TriggerAdmission intake;
    private final RunDispatcher dispatcher;
    private final ScheduleTicker ticker;
    private final Replays replays;
    private final Store.WakeSubscription listening;

    private SemelRuntime(Store store, RuntimeOptions settings, List<Workflow<?, ?>> workflows) {
        this.store = store;
        this.settings = settings;
        // The only place that connects the engine and the stores.
        GroupCommitter.EngineDependencies around = new GroupCommitter.EngineDependencies(settings.ambient(), counters);
        this.leases = new LeaseKeeper(store, WorkerStatus.worker(settings), settings.limits(), around);
        this.committer = new GroupCommitter(store, leases, settings.limits(), around);
        this.readers = new StoreReadPool(store);
        this.workerStatus = new WorkerStatus(leases, readers).warnIfNameShared(settings.workerName());
        this.requests = new RequestRecorder(committer, settings.ambient(), settings.limits(), settings.requestObserver());
        this.desk = new TransactionStep(store, committer, leases);
        this.javaWorkflows = new JavaWorkflowRegistry(this, settings.limits());
        workflows.forEach(javaWorkflows::addCode); // before any run is claimed, so that this process can execute their runs
        this.runExecutor = new RunExecutor(
                new RunExecutor.RunDependencies(committer, readers, desk, javaWorkflows, javaWorkflows, settings.limits(), around), completions);
        leases.reportRunCount(runExecutor::activeRunCount);
        this.catalog = new WorkflowCatalog(readers, version -> javaWorkflows.compile(version, settings.compiler()));
        TriggerAdmission.EngineComponents parts = new TriggerAdmission.EngineComponents(committer, readers, requests, runExecutor);
        this.intake = new TriggerAdmission(parts, catalog, around);
        this.dispatcher = new RunDispatcher(parts, catalog, settings.limits(), around);
        intake.onQueuedRun(dispatcher::wakeUp);
        this.ticker = new ScheduleTicker(parts, new TickAdmission(intake, javaWorkflows), catalog, around);
        ReplayAdmission replayDoor = new ReplayAdmission(intake, catalog, javaWorkflows);
        this.replays = new Replays(this, new ReplayExecutor(parts, replayDoor, settings.limits(), around));
        RunProgressListener followers = new RunProgressListener(this);
        runExecutor.setObserver(followers);
        this.listening = store.listen(followers::onNotification);
    }

    /** Wakes a run, on this worker or on the one that claims it; a hint that may be lost. */
    void wake(RunId run) {
        if (!runExecutor.wake(run)) {
            var unused = committer.submit(0, new StoreWrite.ExecuteCommand<>(new StoreCommand.WakeRuns(List.of(run))));
            dispatcher.wakeUp();
        }
    }

    @Override
    public SemelRuntime register(Workflow<?, ?>... workflows) {
        for (Workflow<?, ?> workflow : workflows) {
            idempotentCalls.rejectUsedName(workflow.name());
            javaWorkflows.register(workflow);
        }
        return this;
    }

    @Override
    public <I, O> RunHandle<O> start(Workflow<I, O> workflow, I input, Start start) {
        return javaWorkflows.start(workflow, input, start);
    }

    @Override
    public <I, O> RunHandle<O> start(Workflow<I, O> workflow, I input) {
        return start(workflow, input, Start.fresh());
    }

    @Override
    public <I, O> RunHandle<O> run(Workflow<I, O> workflow, String runId) {
        return javaWorkflows.run(workflow, runId);
    }

    /** Finds a run of any workflow of a workspace, for operators: to signal, decide or cancel. */
    public RunHandle<JsonNode> run(int workspace, String runId) {
        return javaWorkflows.run(workspace, runId);
    }

    @Override
    public <T> List<String> signal(Signal<T> signal, T value) {
        return signal(signal, value, Key.of(newId().text()));
    }

    @Override
    public <T> List<String> signal(Signal<T> signal, T value, Key once) {
        return KeyedSignals.of(this).send(signal, value, once).runIds();
    }

    @Override
    public IdempotentCall idempotent(String operation) {
        return new IdempotentCallBuilder(idempotentCalls, operation);
    }

    @Override
    public Health health() {
        return workerStatus.health(settings.workerName());
    }

    JavaWorkflowRegistry javaWorkflows() {
        return javaWorkflows;
    }

    RunExecutor runExecutor() {
        return runExecutor;
    }

    void lookForWork() {
        dispatcher.wakeUp();
    }

    void onRegistered(String workflowId) {
        catalog.evict(workflowId);
        dispatcher.onWorkflowRegistered(workflowId);
        ticker.onWorkflowRegistered(workflowId);
    }

    /** The engine behind an open Semel. */
    public static SemelRuntime of(Semel semel) {
        if (semel instanceof SemelRuntime runtime) {
            return runtime;
        }
        throw new IllegalArgumentException("this Semel was not opened with SemelOptions.open()");
    }

    /** Opens the store, migrates its schema, and resumes runs that no worker owns. */
    public static SemelRuntime open(RuntimeOptions settings) {
        return open(StoreFactory.open(settings), settings);
    }

    /** The same on an open store. */
    public static SemelRuntime open(Store store, RuntimeOptions settings) {
        try {
            store.migrate();
        } catch (RuntimeException e) {
            store.close(); // otherwise a second attempt would find the file locked
            throw e;
        }
        return new SemelRuntime(store, settings, List.of());
    }

    /** Opens Semel on an open store, for tests; resumes the unowned runs of these workflows immediately. */
    public static SemelRuntime openForTest(Store store, RuntimeOptions settings, List<Workflow<?, ?>> workflows) {
        store.migrate();
        SemelRuntime semel = new SemelRuntime(store, settings, workflows);
        workflows.forEach(semel::register);
        return semel;
    }

    /** Internals of this engine for the test kit. */
    public TestAccess testAccess() {
        return new TestAccess(this, committer, runExecutor, ticker);
    }

    /**
     * Admits a trigger. The result is a fresh run or a repeat; a rejection is a {@link SemelException}. If the workflow
     * was published, paused or resumed since it was looked up, Semel calls {@code ask} again with its current version.
     *
     * @param ask builds the trigger: derives the key, the checks and everything else that depends on the version
     */
    public TriggerResult trigger(int workspace, CurrentWorkflow first, Function<CurrentWorkflow, Trigger> ask) {
        TransactionStep.rejectInside("a run of " + first.published().name());
        return intake.trigger(workspace, first, ask);
    }

    /** Admits a trigger in which only the workflow itself depends on the version. */
    public TriggerResult trigger(Trigger trigger) {
        return trigger(trigger.workspace().id(), trigger.current(), trigger::withWorkflow);
    }

    /** Waits for a run to end and returns its row; null if there is no such run. */
    public StoredRows.@Nullable RunRow await(int workspace, RunId id, Duration longest) {
        return await(workspace, id, longest, _ -> false);
    }

    /** Waits until a run ends or fulfils a condition. */
    StoredRows.@Nullable RunRow await(int workspace, RunId id, Duration longest, Predicate<StoredRows.RunRow> enough) {
        TransactionStep.rejectInside("the end of a run");
        return completions.await(
                id,
                longest.compareTo(Duration.ofDays(10_000)) > 0 ? Long.MAX_VALUE : longest.toNanos(),
                new RunCompletions.RunPoll<>(
                        () -> runExecutor.willNotifyEnd(id),
                        () -> view(reads -> reads.run(workspace, id)),
                        run -> run == null || run.end() != null || enough.test(run)));
    }

    /** Runs a read-only query against the store. */
    public <T> @Nullable T view(Function<StoreQueries, @Nullable T> question) {
        try {
            return readers.readNullable(question);
        } catch (StoreFailure e) {
            throw StoreErrors.toSemelException(e);
        }
    }

    /** Commits a change; it is durable when this returns. */
    public <T> T change(StoreCommand<T> edit) {
        T changed = changeOrNull(edit);
        if (changed == null) {
            throw new IllegalStateException("the store returned no result for " + edit.getClass().getSimpleName());
        }
        return changed;
    }

    /** Commits a change whose result may be null. */
    @SuppressWarnings("unchecked") // the store returns a placeholder instead of null
    public <T> @Nullable T changeOrNull(StoreCommand<T> edit) {
        TransactionStep.rejectInside("a change of another kind");
        try {
            Object answer = committer
                    .submitWithDeadline(0, new StoreWrite.ExecuteCommand<>((StoreCommand<Object>) edit))
                    .join();
            catalog.refresh();
            dispatcher.wakeUp();
            if (answer instanceof StoredRows.WorkflowRow published) {
                ticker.onPublished(published);
            }
            return answer == dev.semel.store.NullOutcome.NOTHING ? null : (T) answer;
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreFailure failure ? StoreErrors.toSemelException(failure) : e;
        } catch (StoreFailure e) {
            throw StoreErrors.toSemelException(e);
        }
    }

    /** Finds a workflow by name or id; null if this workspace has none. */
    public @Nullable CurrentWorkflow workflow(int workspace, String nameOrId) {
        try {
            return catalog.find(workspace, nameOrId);
        } catch (StoreFailure e) {
            throw StoreErrors.toSemelException(e);
        }
    }

    /** One version of a workflow, compiled. */
    public WorkflowVersion version(String workflowId, int version) {
        try {
            return catalog.version(workflowId, version);
        } catch (StoreFailure e) {
            throw StoreErrors.toSemelException(e);
        }
    }

    /** A number that rises when a workflow or a token changes; caches of them are then out of date. */
    public long catalogVersion() {
        return catalog.changeCounter();
    }

    public EventIntake events() {
        return new EventIntake(this, catalog, committer);
    }

    /** Counters since the start of this process, by name. */
    public Map<String, LongSupplier> counts() {
        return counters.all();
    }

    /** One of {@link #counts}. */
    public long count(String name) {
        LongSupplier count = counts().get(name);
        if (count == null) {
            throw new IllegalArgumentException("there is no counter " + name);
        }
        return count.getAsLong();
    }

    /** Generates an id; ids of one process are ascending. */
    public RunId newId() {
        return settings.ambient().newId();
    }

    /** Generates random bytes for a secret. */
    public byte[] newSecret(int bytes) {
        return settings.ambient().randomBytes(bytes);
    }

    /** Marks a crash point: tests simulate a crash of the process here. Does nothing in production. */
    public void crashPoint(String label) {
        settings.ambient().point(label);
    }

    /** Monotonic clock, in nanoseconds. */
    public long nanos() {
        return settings.ambient().nanos();
    }

    /** Schedules and their ticks. */
    public Schedules schedules() {
        return new Schedules(this, new TickAdmission(intake, javaWorkflows));
    }

    /** Plans and applies safe replays. */
    public Replays replays() {
        return replays;
    }

    public Reviews reviews() {
        return new Reviews(this);
    }

    public TriggerDryRun triggerDryRun() {
        return new TriggerDryRun(new AdmissionDryRun(readers, requests, catalog));
    }

    /** The state of this worker, and the other workers on its store. */
    public WorkerStatus workerStatus() {
        return workerStatus;
    }

    public boolean isReady() {
        return workerStatus.unreadyReason() == null;
    }

    @Override
    public void close() {
        close(Duration.ofSeconds(10));
    }

    @Override
    public void close(Duration grace) {
        listening.close();
        ticker.close();
        replays.replayer().close();
        dispatcher.close();
        runExecutor.close(grace);
        requests.close();
        desk.close();
        committer.close();
        readers.close();
        leases.close();
        store.close();
    }
}
