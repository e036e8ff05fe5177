package dev.semel.engine.run;

import dev.semel.admission.ConcurrencyAndRateLimitCalculator;
import dev.semel.definition.RunTooLarge;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.signal.HumanReviewOpener;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.ActiveRunMemory;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.RunDependencies;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StoredRunWaitReasonWriter;
import dev.semel.engine.step.WaitingBranchesRunSuspender;
import dev.semel.error.RunCancelled;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Executes runs, each on its own virtual thread, up to a limit, and never one run twice in this process. */
public final class RunExecutor {
    private static final Logger LOG = System.getLogger(RunExecutor.class.getName());

    private final RunDependencies engine;
    private final RunCompletionWaiter completions;
    private final Semaphore capacity;
    private final ActiveRunMemory memory;
    private final ConcurrentHashMap<RunId, Slot> active = new ConcurrentHashMap<>();
    private final JournalCodeMismatchTracker incompatibleRuns = new JournalCodeMismatchTracker();
    private volatile boolean closing;

    /** The slot of one run in this process; the execution is set once it has begun. */
    private static final class Slot {
        volatile ActiveRunMemory.@Nullable Share memory;
        volatile @Nullable InMemoryRunExecutionState execution;
        /** Callers that begin to wait from now on must poll: the end was already announced. */
        volatile boolean announced;
        /** It was claimed again before this execution had left; the dispatcher must look for it afterwards. */
        volatile boolean reclaimed;
    }

    /** Notified when a run has ended or was parked, since that may free capacity for others. */
    public interface RunObserver {
        void onEnded(ActiveRun run);

        void onParked(long due);

        /** A run was claimed while its last execution was still leaving; it can be claimed again now. */
        void onReclaimed();
    }

    private volatile @Nullable RunObserver observer;

    public RunExecutor(RunDependencies engine, RunCompletionWaiter completions) {
        this.engine = engine;
        this.completions = completions;
        this.capacity = new Semaphore(engine.limits().activeRuns());
        this.memory = new ActiveRunMemory(engine.limits().runSize().activeBytes());
        engine.dependencies().environment().onClockJump(this::wakeAll);
    }

    public void setObserver(RunObserver value) {
        observer = value;
    }

    /** Reserves capacity for one run. {@link #releaseCapacity} returns it if the run does not start. */
    public boolean reserveCapacity() {
        return !closing && capacity.tryAcquire();
    }

    public void releaseCapacity() {
        capacity.release();
    }

    /** Reserves capacity and memory for a new run; null if the run must wait in the store. */
    public ActiveRunMemory.@Nullable Share reserve(long input, long journal) {
        if (!reserveCapacity()) {
            return null;
        }
        ActiveRunMemory.Share share = memory.reserve(input, journal);
        if (share == null) {
            releaseCapacity();
        }
        return share;
    }

    /** Returns what {@link #reserve} reserved, if the run does not start. */
    public void release(ActiveRunMemory.@Nullable Share share) {
        capacity.release();
        if (share != null && share.release()) {
            notifyObserver(RunObserver::onReclaimed);
        }
    }

    public ActiveRunMemory memory() {
        return memory;
    }

    public boolean isActive(RunId run) {
        return active.containsKey(run);
    }

    public JournalCodeMismatchTracker incompatibleRuns() {
        return incompatibleRuns;
    }

    /** Whether callers that began to wait before this call get notified of the end of the run. */
    public boolean willNotifyEnd(RunId run) {
        Slot slot = active.get(run);
        return slot != null && !slot.announced;
    }

    public int activeRunCount() {
        return active.size();
    }

    /** Makes a waiting run look again. Returns false if it is not here, or not for long. */
    public boolean wake(RunId run) {
        Slot slot = active.get(run);
        InMemoryRunExecutionState execution = slot == null ? null : slot.execution;
        return execution == null ? slot != null : execution.waits().wake();
    }

    /** Handles a message or cancel that another worker reports. Returns false if the run is not here. */
    public boolean onRemoteWake(RunId run) {
        if (!isActive(run)) {
            return false;
        }
        DatabaseRows.RunRow row = engine.readers().readNullable(reads -> reads.claimedRun(run));
        if (row != null && row.progress() != null && row.progress().cancelRequested()) {
            cancel(run);
        }
        return wake(run);
    }

    private void wakeAll() {
        active.keySet().forEach(this::wake);
    }

    /** When the first run in memory is due; empty while one of them is active. */
    public OptionalLong idleUntil() {
        long first = StoreWrite.Suspension.NEVER;
        for (Slot slot : active.values()) {
            InMemoryRunExecutionState execution = slot.execution;
            OptionalLong one =
                    execution == null ? OptionalLong.empty() : execution.waits().idleUntil();
            if (one.isEmpty()) {
                return one;
            }
            first = Math.min(first, one.getAsLong());
        }
        return OptionalLong.of(first);
    }

    /** Cancels a run at once if it executes here. */
    public void cancel(RunId run) {
        Slot slot = active.get(run);
        InMemoryRunExecutionState execution = slot == null ? null : slot.execution;
        if (execution != null) {
            execution.cancel();
        }
    }

    /** {@code carried}: the first entries of its journal. {@code share}: as reserved. */
    public void start(ActiveRun run, String carried, ActiveRunMemory.Share share) {
        Slot slot = new Slot();
        slot.memory = share;
        if (active.putIfAbsent(run.id(), slot) == null) {
            launch(slot, run, carried.isEmpty() ? List.of() : List.of(new StoreQueries.JournalChunk(0, carried)));
        } else {
            release(share); // it already executes here
        }
    }

    /** A run as stored: its journal in chunks, without the entries of its end. */
    public record RecordedRun(ActiveRun run, List<StoreQueries.JournalChunk> chunks) {}

    /** Call it before the journal is read, so that nothing else here writes to it. False: the run executes here. */
    public boolean reserveSlot(RunId id) {
        Slot slot = new Slot();
        Slot taken = active.compute(id, (_, there) -> {
            if (there != null) {
                there.reclaimed = true;
            }
            return there == null ? slot : there;
        });
        return taken == slot;
    }

    public void releaseSlot(RunId id) {
        active.remove(id);
    }

    /** Continues a run whose slot and capacity are reserved. */
    public void resume(RecordedRun recorded) {
        Slot slot = Objects.requireNonNull(active.get(recorded.run().id()));
        slot.memory = memory.add(
                recorded.run().input().length(),
                recorded.chunks().stream()
                        .mapToLong(chunk -> chunk.entries().length())
                        .sum());
        launch(slot, recorded.run(), recorded.chunks());
    }

    private void launch(Slot slot, ActiveRun run, List<StoreQueries.JournalChunk> chunks) {
        List<StoreQueries.JournalChunk> unread = new ArrayList<>(chunks);
        engine.dependencies()
                .environment()
                .startThread("run", () -> runLast(slot, run, () -> runToEnd(slot, run, unread)));
    }

    /** Runs the last action of a thread for a run and frees its slot, whatever happens. */
    private void runLast(Slot slot, ActiveRun run, Runnable last) {
        boolean dropped = false;
        try {
            last.run();
        } catch (RunExecutionAbort.OwnershipLost e) {
            dropped = true;
            LOG.log(Level.INFO, "another worker continues run {0}", run.runId());
        } catch (RunExecutionAbort.StoreUnreachable e) {
            dropped = true; // the store still lists it as ours, so the dispatcher finds it
            LOG.log(Level.WARNING, "run " + run.runId() + " stopped; a worker continues it later: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            dropped = true;
            if (!ClockAndRandomSource.SimulatedCrash.causes(e)) {
                LOG.log(Level.ERROR, "run " + run.runId() + " stopped; a worker continues it later", e);
            }
        } finally {
            active.remove(run.id());
            release(slot.memory);
            if (dropped || slot.reclaimed) {
                // ours in the store and not executing here: the dispatcher finds it
                engine.dependencies().counters().droppedRuns.increment();
            }
            if (slot.reclaimed) {
                notifyObserver(RunObserver::onReclaimed);
            }
        }
    }

    private void notifyObserver(Consumer<RunObserver> call) {
        RunObserver current = observer;
        if (current != null) {
            call.accept(current);
        }
    }

    private void runToEnd(Slot slot, ActiveRun run, List<StoreQueries.JournalChunk> chunks) {
        InMemoryRunExecutionState execution =
                new InMemoryRunExecutionState(run, engine, chunks, Objects.requireNonNull(slot.memory));
        chunks.clear(); // this frame lives as long as the run, and the text is in memory twice otherwise
        execution.onAbandoned = () -> {
            LOG.log(
                    Level.WARNING,
                    "the worker could not suspend run {0}, because the workflow code catches Throwable and continues."
                        + " The worker abandons the thread of this run. In the workflow code, catch Exception instead"
                        + " of Throwable",
                    run.runId());
            runLast(slot, run, () -> rest(execution));
        };
        slot.execution = execution;
        if (closing) {
            execution.waits().park();
        }
        StoreWrite.EndRun end;
        try {
            end = execute(execution);
            execution.awaitSubmittedWrites();
            record(execution, end);
        } catch (RunExecutionAbort unwind) {
            execution.end(unwind);
            rest(execution);
            return;
        }
        announce(run, end);
    }

    private void announce(ActiveRun run, StoreWrite.EndRun end) {
        engine.dependencies().counters().countEnd(end.state());
        Slot slot = active.get(run.id());
        if (slot != null) {
            slot.announced = true;
        }
        completions.notifyEnded(run.id());
        notifyObserver(o -> o.onEnded(run));
    }

    /** Parks, holds or stops a run whose execution ended before its code did. */
    private void rest(InMemoryRunExecutionState execution) {
        switch (execution.endReason()) {
            case RunExecutionAbort.Parked _ -> putAway(execution);
            case RunExecutionAbort.Held held -> holdRun(execution, held);
            case RunExecutionAbort.OutcomeUnknown stop -> {
                execution.awaitSubmittedWrites();
                StoreWrite.EndRun end = RunCompletionStoreWriteBuilder.endOutcomeUnknown(execution, stop);
                execution.awaitSubmittedWrites();
                record(execution, end);
                announce(execution.run(), end);
            }
            case RunExecutionAbort other -> throw other;
            case null -> throw new IllegalStateException("an execution that has not ended cannot be parked");
        }
    }

    private StoreWrite.EndRun execute(InMemoryRunExecutionState execution) {
        ActiveRun run = execution.run();
        boolean begun = run.driver().claim() > 1 || !execution.journal().isEmpty();
        if (run.cancelRequested() && !begun) {
            return RunCompletionStoreWriteBuilder.endCancelled(execution, new RunCancelled(run.runId(), "").detail());
        }
        int alone = run.crashCount().alone();
        if (alone >= engine.limits().maxCrashesAlone()) {
            if (run.cancelRequested() && alone > engine.limits().maxCrashesAlone()) {
                return RunCompletionStoreWriteBuilder.endCancelled(
                        execution,
                        "The worker crashed again during compensation. The remaining compensations did not run.");
            }
            if (!run.cancelRequested()) {
                throw RunCompletionStoreWriteBuilder.poisonHold(run);
            }
        }
        StepJournalMatcher scope = new StepJournalMatcher(execution, JournalStepPathFormat.ROOT, false);
        try {
            JsonNode output = Objects.requireNonNull(
                    run.workflow().body().run(new DurableWorkflowContext(scope), StrictJsonCodec.parse(run.input())),
                    "the workflow code returned null");
            scope.close();
            execution.throwIfEnded();
            RunTooLarge tooLarge = execution.size().exceeded();
            return tooLarge == null
                    ? RunCompletionStoreWriteBuilder.endCompleted(execution, output)
                    : RunCompletionStoreWriteBuilder.endFailed(execution, tooLarge);
        } catch (RunExecutionAbort | ClockAndRandomSource.SimulatedCrash end) {
            throw end;
        } catch (Throwable failure) {
            scope.close();
            execution.throwIfEnded(); // user code swallowed the end of its execution; its own failure does not count
            RunTooLarge tooLarge = execution.size().exceeded(); // user code may have wrapped it
            return RunCompletionStoreWriteBuilder.endFailed(
                    execution, tooLarge == null || execution.cancelled() ? failure : tooLarge);
        }
    }

    private void record(InMemoryRunExecutionState execution, StoreWrite.EndRun end) {
        // CRASH(run-ending): everything is done and the end is not recorded; a restart replays the run and ends it.
        engine.dependencies().environment().point("run-ending");
        engine.dependencies().counters().diskWaits.increment();
        StoreWrite.OwnerWriteResult owned =
                execution.awaitWrite(engine.committer().submit(execution.run().lane(), end));
        if (!owned.recorded()) {
            throw new RunExecutionAbort.OwnershipLost();
        }
    }

    private void putAway(InMemoryRunExecutionState execution) {
        boolean cancelled = execution.cancelled(); // first: a later cancel makes the run due at once
        List<WaitingBranchesRunSuspender.BranchWait> all = execution.waits().currentWaits();
        // A branch that was stopped while working is due at once; this worker is closing.
        long due = execution.waits().areAllWaiting()
                ? all.stream()
                        .mapToLong(WaitingBranchesRunSuspender.BranchWait::due)
                        .min()
                        .orElse(0)
                : 0;
        WaitingBranchesRunSuspender.BranchWait first = all.stream()
                .filter(wait -> wait.due() == due)
                .findFirst()
                .orElse(new WaitingBranchesRunSuspender.BranchWait(
                        0, StoredRunWaitReasonWriter.toJson("worker", execution.currentStep(), 0), false, false));
        boolean doubt = all.stream().anyMatch(WaitingBranchesRunSuspender.BranchWait::forDoubt);
        boolean signals = all.stream().anyMatch(WaitingBranchesRunSuspender.BranchWait::forSignal);
        String what = StoredRunWaitReasonWriter.mergeJson(
                all.stream()
                        .filter(WaitingBranchesRunSuspender.BranchWait::forDoubt)
                        .findFirst()
                        .orElse(first)
                        .description(),
                all.stream()
                        .map(WaitingBranchesRunSuspender.BranchWait::description)
                        .toList());
        execution.park(
                doubt ? RunState.IN_DOUBT : RunState.WAITING,
                new StoreWrite.Suspension(
                        due, what, signals ? execution.signalsSeen() : Integer.MAX_VALUE, cancelled, false));
        engine.dependencies().counters().parkedRuns.increment();
        if (due > 0 && !cancelled && all.stream().allMatch(StoredRunWaitReasonWriter::needsNoPlace)) {
            returnPlace(execution.run());
        }
        notifyObserver(o -> o.onParked(due));
    }

    /**
     * While a run waits for its next attempt or for the effect of another run, another run of its workflow may start. The
     * run that holds the effect may itself wait for this place.
     */
    private void returnPlace(ActiveRun run) {
        if (run.workflow().options().concurrency().maxConcurrent() == null) {
            return;
        }
        String queue = ConcurrencyAndRateLimitCalculator.maxConcurrentQueue(
                run.workflow().workflowId());
        try {
            var unused = engine.committer().execute(new StoreWriteCommand.ReturnConcurrencyPlace(run.driver(), queue));
        } catch (StoreFailure e) {
            LOG.log(
                    Level.WARNING,
                    "run {0} keeps its place of the concurrency limit until its next attempt: {1}",
                    run.runId(),
                    e.getMessage());
        }
    }

    private void holdRun(InMemoryRunExecutionState execution, RunExecutionAbort.Held held) {
        LOG.log(Level.WARNING, "run {0} is held: {1}", execution.run().runId(), held.getMessage());
        engine.dependencies().counters().held.increment();
        incompatibleRuns.addIfIncompatible(execution.run(), held);
        HumanReviewOpener.open(execution, HumanReviewOpener.forHeldRun(held));
        execution.park(RunState.HELD, RunCompletionStoreWriteBuilder.restForHeld(execution, held));
    }

    /** Parks waiting runs and lets active ones reach their next step. Other workers continue the rest. */
    public void close(Duration grace) {
        closing = true;
        for (Slot slot : active.values()) {
            InMemoryRunExecutionState execution = slot.execution;
            if (execution != null) {
                execution.waits().park();
            }
        }
        try {
            if (!capacity.tryAcquire(engine.limits().activeRuns(), grace.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.log(Level.WARNING, active.size() + " runs were still active; other workers continue them");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
