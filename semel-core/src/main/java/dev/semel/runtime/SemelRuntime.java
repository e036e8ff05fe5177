package dev.semel.runtime;

import dev.semel.Health;
import dev.semel.IdempotentCall;
import dev.semel.Semel;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerPreview;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.engine.admission.DuplicateRequestRecorder;
import dev.semel.engine.admission.TriggerAdmissionController;
import dev.semel.engine.admission.TriggerAdmissionPredictor;
import dev.semel.engine.admission.TriggerIngress;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreErrorTranslator;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.commit.WorkerLeaseRenewer;
import dev.semel.engine.replay.ReplayPlanExecutor;
import dev.semel.engine.replay.ReplayRunStarter;
import dev.semel.engine.run.RunCompletionWaiter;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.RunDependencies;
import dev.semel.engine.step.TransactionStepExecutor;
import dev.semel.engine.step.WorkspaceSecretCache;
import dev.semel.engine.timer.RunDispatcher;
import dev.semel.engine.timer.ScheduleTickAdmission;
import dev.semel.engine.timer.ScheduleTicker;
import dev.semel.error.SemelException;
import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowStore;
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
    private final WorkflowStore store;
    private final RuntimeOptions settings;
    private final EngineMetricCounters counters = new EngineMetricCounters();
    private final RunCompletionWaiter completions = new RunCompletionWaiter();
    private final WorkerLeaseRenewer leases;
    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final WorkerStatus workerStatus;
    private final DuplicateRequestRecorder requests;
    private final TransactionStepExecutor transactionSteps;
    private final JavaWorkflowRegistry javaWorkflows;
    private final IdempotentCallExecutor idempotentCalls = new IdempotentCallExecutor(this);
    private final RunExecutor runExecutor;
    private final WorkflowCatalog catalog;
    private final TriggerIngress intake;
    private final RunDispatcher dispatcher;
    private final ScheduleTicker ticker;
    private final ReplayPlanOperations replays;
    private final WorkflowStore.WakeSubscription listening;

    private SemelRuntime(WorkflowStore store, RuntimeOptions settings, List<Workflow<?, ?>> workflows) {
        this.store = store;
        this.settings = settings;
        // The only place that connects the engine and the stores.
        GroupCommitter.EngineDependencies dependencies =
                new GroupCommitter.EngineDependencies(settings.ambient(), counters);
        this.leases = new WorkerLeaseRenewer(store, WorkerStatus.worker(settings), settings.limits(), dependencies);
        this.committer = new GroupCommitter(store, leases, settings.limits(), dependencies);
        this.readers = new StoreQueryThreadPool(store);
        this.workerStatus =
                new WorkerStatus(leases, readers, dependencies.threads()).warnIfNameShared(settings.workerName());
        this.requests = new DuplicateRequestRecorder(
                committer, settings.ambient(), settings.limits(), settings.requestObserver());
        readers.threads().forEach(dependencies.threads()::watch);
        dependencies.threads().watch(requests.thread());
        store.threads().forEach(dependencies.threads()::watch);
        this.transactionSteps = new TransactionStepExecutor(store, committer, leases);
        this.javaWorkflows = new JavaWorkflowRegistry(this, settings.limits());
        workflows.forEach(
                javaWorkflows::addCode); // before any run is claimed, so that this process can execute their runs
        this.runExecutor = new RunExecutor(
                new RunDependencies(
                        committer,
                        readers,
                        transactionSteps,
                        javaWorkflows,
                        javaWorkflows,
                        settings.limits(),
                        dependencies,
                        new WorkspaceSecretCache()),
                completions);
        leases.reportRunCount(runExecutor::activeRunCount);
        this.catalog = new WorkflowCatalog(readers, version -> javaWorkflows.compile(version, settings.compiler()));
        TriggerAdmissionController admission =
                new TriggerAdmissionController(committer, readers, requests, runExecutor, catalog, dependencies);
        this.intake = new TriggerIngress(admission, catalog, settings.ambient());
        this.dispatcher = new RunDispatcher(committer, readers, runExecutor, catalog, settings.limits(), dependencies);
        admission.onQueuedRun(dispatcher::wakeUp);
        this.ticker = new ScheduleTicker(
                committer, readers, new ScheduleTickAdmission(intake, javaWorkflows), catalog, dependencies);
        ReplayRunStarter replayStarter = new ReplayRunStarter(intake, catalog, javaWorkflows);
        this.replays = new ReplayPlanOperations(
                this,
                new ReplayPlanExecutor(
                        committer, readers, runExecutor, replayStarter, settings.limits(), dependencies));
        ParentRunWaker followers = new ParentRunWaker(this);
        runExecutor.setObserver(followers);
        this.listening = store.listen(followers::onNotification);
    }

    /** Wakes a run, on this worker or on the one that claims it; a hint that may be lost. */
    void wake(RunId run) {
        if (!runExecutor.wake(run)) {
            var unused =
                    committer.submit(0, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.WakeRuns(List.of(run))));
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
        return KeyedSignalSender.of(this).send(signal, value, once).runIds();
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
    public static SemelRuntime open(WorkflowStore store, RuntimeOptions settings) {
        try {
            store.migrate();
        } catch (RuntimeException e) {
            store.close(); // otherwise a second attempt would find the file locked
            throw e;
        }
        return new SemelRuntime(store, settings, List.of());
    }

    /** Opens Semel on an open store, for tests; resumes the unowned runs of these workflows immediately. */
    public static SemelRuntime openForTest(
            WorkflowStore store, RuntimeOptions settings, List<Workflow<?, ?>> workflows) {
        store.migrate();
        SemelRuntime semel = new SemelRuntime(store, settings, workflows);
        workflows.forEach(semel::register);
        return semel;
    }

    /** Internals of this engine for the test kit. */
    public EngineIdleTestProbe testAccess() {
        return new EngineIdleTestProbe(this, committer, runExecutor, ticker);
    }

    /** A rejection is a {@link SemelException}. {@code source} builds the trigger, again if the workflow changed since. */
    public TriggerResult trigger(
            int workspace,
            WorkflowCatalogEntry first,
            TriggerQuota quota,
            Function<WorkflowCatalogEntry, Trigger> source) {
        TransactionStepExecutor.rejectInside(
                "start a run of " + first.published().name());
        return intake.submit(workspace, first, quota, source);
    }

    /** Admits a trigger in which only the workflow itself depends on the version. */
    public TriggerResult trigger(Trigger trigger) {
        return trigger(trigger.workspace().id(), trigger.current(), TriggerQuota.NONE, trigger::withWorkflow);
    }

    /** Waits for a run to end and returns its row; null if there is no such run. */
    public DatabaseRows.@Nullable RunRow await(int workspace, RunId id, Duration longest) {
        return await(workspace, id, longest, _ -> false);
    }

    /** Waits until a run ends or fulfils a condition. */
    DatabaseRows.@Nullable RunRow await(
            int workspace, RunId id, Duration longest, Predicate<DatabaseRows.RunRow> enough) {
        TransactionStepExecutor.rejectInside("wait for the end of a run");
        return completions.await(
                id,
                longest.compareTo(Duration.ofDays(10_000)) > 0 ? Long.MAX_VALUE : longest.toNanos(),
                new RunCompletionWaiter.RunPoll<>(
                        () -> runExecutor.willNotifyEnd(id),
                        () -> view(reads -> reads.run(workspace, id)),
                        run -> run == null || run.end() != null || enough.test(run)));
    }

    public <T> @Nullable T view(Function<StoreQueries, @Nullable T> question) {
        try {
            return readers.readNullable(question);
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toSemelException(e);
        }
    }

    /** Commits a change; it is durable when this returns. */
    public <T> T change(StoreWriteCommand<T> edit) {
        T changed = changeOrNull(edit);
        if (changed == null) {
            throw new IllegalStateException(
                    "the store returned no result for " + edit.getClass().getSimpleName());
        }
        return changed;
    }

    /** Commits a change whose result may be null. */
    @SuppressWarnings("unchecked") // the store returns a placeholder instead of null
    public <T> @Nullable T changeOrNull(StoreWriteCommand<T> edit) {
        TransactionStepExecutor.rejectInside("change data of Semel");
        try {
            Object answer = committer
                    .submitWithDeadline(0, new StoreWrite.ExecuteCommand<>((StoreWriteCommand<Object>) edit))
                    .join();
            catalog.refresh();
            dispatcher.wakeUp();
            if (answer instanceof DatabaseRows.WorkflowRow published) {
                ticker.onPublished(published);
            }
            return answer == dev.semel.store.StoreWriteCommand.NullResult.NOTHING ? null : (T) answer;
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreFailure failure ? StoreErrorTranslator.toSemelException(failure) : e;
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toSemelException(e);
        }
    }

    /** Finds a workflow by name or id; null if this workspace has none. */
    public @Nullable WorkflowCatalogEntry workflow(int workspace, String nameOrId) {
        try {
            return StorableText.isStorable(nameOrId) ? catalog.find(workspace, nameOrId) : null;
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toSemelException(e);
        }
    }

    public WorkflowVersion version(String workflowId, int version) {
        try {
            return catalog.version(workflowId, version);
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toSemelException(e);
        }
    }

    /** A number that rises when a workflow or a token changes; caches of them are then out of date. */
    public long catalogVersion() {
        return catalog.changeCounter();
    }

    public InboundEventIntake events() {
        return new InboundEventIntake(this, catalog, committer);
    }

    public Map<String, LongSupplier> counts() {
        return counters.all();
    }

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

    public long nanos() {
        return settings.ambient().nanos();
    }

    public ScheduleOperations schedules() {
        return new ScheduleOperations(this, new ScheduleTickAdmission(intake, javaWorkflows));
    }

    public ReplayPlanOperations replays() {
        return replays;
    }

    public HumanReviewDecisionRecorder reviews() {
        return new HumanReviewDecisionRecorder(this);
    }

    /** @param at the time of the simulated trigger, in microseconds of the store's clock; a past time means now */
    public TriggerPreview predictTrigger(Trigger trigger, long at) {
        return new TriggerAdmissionPredictor(readers, catalog).predict(trigger, at);
    }

    /** The state of this worker, and the other workers on its store. */
    public WorkerStatus workerStatus() {
        return workerStatus;
    }

    @Override
    public void confirmClock() {
        store.confirmClock();
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
        transactionSteps.close();
        committer.close();
        readers.close();
        leases.close();
        store.close();
    }
}
