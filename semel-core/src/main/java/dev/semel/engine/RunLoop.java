package dev.semel.engine;

import dev.semel.error.RunCancelled;
import dev.semel.error.RunTimedOut;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepPath;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.workflow.Published;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
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
public final class RunLoop {
    private static final Logger LOG = System.getLogger(RunLoop.class.getName());

    private final Engine engine;
    private final Completions completions;
    private final Semaphore capacity;
    private final ConcurrentHashMap<RunId, Slot> active = new ConcurrentHashMap<>();
    private final Misfits misfits = new Misfits();
    private volatile boolean closing;

    /** What an execution needs to read, to write and to reach other runs. */
    public record Engine(
            Committer committer,
            Readers readers,
            TxDesk desk,
            Children.Starter starter,
            Children.Signaller signaller,
            Limits limits,
            Committer.Surroundings around) {}

    /**
     * A run that this worker owns and executes.
     *
     * @param runId the public id
     * @param deadline when its time is over, by the store clock; {@link Write.Rest#NEVER} for no limit
     * @param falls how many times in a row its worker crashed while executing it
     */
    public record Resident(
            Write.Driver driver,
            int workspace,
            Published workflow,
            JsonNode input,
            RunId lineage,
            int lane,
            String runId,
            long deadline,
            int falls,
            boolean cancel,
            @Nullable RunId parent,
            int depth) {
        public RunId id() {
            return driver.run();
        }

        RunTimedOut timedOut() {
            Duration allowed = workflow.extras().deadline();
            return new RunTimedOut(runId, allowed == null ? Duration.ZERO : allowed);
        }
    }

    /** The slot of one run in this process; the execution is set once it has begun. */
    private static final class Slot {
        volatile @Nullable Execution execution;
        /** Callers that begin to wait from now on must poll: the end was already announced. */
        volatile boolean announced;
        /** It was claimed again before this execution had left; the dispatcher must look for it afterwards. */
        volatile boolean reclaimed;
    }

    /** Notified when a run has ended or was parked, since that may free capacity for others. */
    public interface Observer {
        void ended(Resident run);

        void putAway(long due);

        /** A run was claimed while its last execution was still leaving; it can be claimed again now. */
        void claimedAgain();
    }

    private volatile @Nullable Observer observer;

    public RunLoop(Engine engine, Completions completions) {
        this.engine = engine;
        this.completions = completions;
        this.capacity = new Semaphore(engine.limits().residentRuns());
        engine.around().ambient().onJump(this::wakeAll);
    }

    public void observedBy(Observer value) {
        observer = value;
    }

    /** Reserves capacity for one run. {@link #release} returns it if the run does not start. */
    public boolean reserve() {
        return !closing && capacity.tryAcquire();
    }

    public void release() {
        capacity.release();
    }

    /** Whether this process executes a run. */
    public boolean drives(RunId run) {
        return active.containsKey(run);
    }

    Misfits misfits() {
        return misfits;
    }

    /** Whether callers that began to wait before this call get notified of the end of the run. */
    public boolean willTell(RunId run) {
        Slot slot = active.get(run);
        return slot != null && !slot.announced;
    }

    /** Number of runs in memory. */
    public int residents() {
        return active.size();
    }

    /** Makes a waiting run look again. Returns false if it is not here, or not for long. */
    public boolean wake(RunId run) {
        Slot slot = active.get(run);
        Execution execution = slot == null ? null : slot.execution;
        return execution == null ? slot != null : execution.waits().wake();
    }

    /** Handles a message or cancel that another worker reports. Returns false if the run is not here. */
    public boolean told(RunId run) {
        if (!drives(run)) {
            return false;
        }
        Rows.Run row = engine.readers().maybe(reads -> reads.claimed(run));
        if (row != null && row.work() != null && row.work().cancel()) {
            cancel(run);
        }
        return wake(run);
    }

    private void wakeAll() {
        active.keySet().forEach(this::wake);
    }

    /** When the first run in memory is due; empty while one of them is active. */
    public OptionalLong quietUntil() {
        long first = Write.Rest.NEVER;
        for (Slot slot : active.values()) {
            Execution execution = slot.execution;
            OptionalLong one =
                    execution == null ? OptionalLong.empty() : execution.waits().quietUntil();
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
        Execution execution = slot == null ? null : slot.execution;
        if (execution != null) {
            execution.cancel();
        }
    }

    /** Starts a new run, for which capacity is reserved. */
    public void start(Resident run) {
        start(run, "");
    }

    /** @param carried the first entries of its journal */
    void start(Resident run, String carried) {
        Slot slot = new Slot();
        if (active.putIfAbsent(run.id(), slot) == null) {
            launch(slot, run, carried.isEmpty() ? List.of() : List.of(new Reads.Chunk(0, carried)));
        } else {
            capacity.release(); // it already executes here
        }
    }

    /** A run as stored: its journal in chunks, without the entries of its end. */
    record Recorded(Resident run, List<Reads.Chunk> chunks) {}

    /**
     * Reserves the slot of a run before its journal is read, so that nothing else here writes to it. False: it executes
     * here.
     */
    boolean hold(RunId id) {
        Slot slot = new Slot();
        Slot taken = active.compute(id, (_, there) -> {
            if (there != null) {
                there.reclaimed = true;
            }
            return there == null ? slot : there;
        });
        return taken == slot;
    }

    /** Releases a reserved slot that was not used. */
    void letGo(RunId id) {
        active.remove(id);
    }

    /** Continues a run whose slot and capacity are reserved. */
    void goOn(Recorded recorded) {
        launch(Objects.requireNonNull(active.get(recorded.run().id())), recorded.run(), recorded.chunks());
    }

    private void launch(Slot slot, Resident run, List<Reads.Chunk> chunks) {
        engine.around().ambient().start("run", () -> runLast(slot, run, () -> runToEnd(slot, run, chunks)));
    }

    /** Runs the last action of a thread for a run and frees its slot, whatever happens. */
    private void runLast(Slot slot, Resident run, Runnable last) {
        boolean dropped = false;
        try {
            last.run();
        } catch (Unwind.NotOurs e) {
            dropped = true;
            LOG.log(Level.INFO, "another worker continues run {0}", run.runId());
        } catch (Unwind.Lost e) {
            dropped = true; // the store still lists it as ours, so the dispatcher finds it
            LOG.log(Level.WARNING, "run " + run.runId() + " stopped; a worker continues it later: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            dropped = true;
            if (!Ambient.Death.isIn(e)) {
                LOG.log(Level.ERROR, "run " + run.runId() + " stopped; a worker continues it later", e);
            }
        } finally {
            active.remove(run.id());
            capacity.release();
            if (dropped || slot.reclaimed) {
                // ours in the store and not executing here: the dispatcher finds it
                engine.around().counters().droppedRuns.increment();
            }
            if (slot.reclaimed) {
                notifyObserver(Observer::claimedAgain);
            }
        }
    }

    private void notifyObserver(Consumer<Observer> call) {
        Observer current = observer;
        if (current != null) {
            call.accept(current);
        }
    }

    private void runToEnd(Slot slot, Resident run, List<Reads.Chunk> chunks) {
        Execution execution = new Execution(run, engine, chunks);
        execution.leftBehind = () -> {
            LOG.log(
                    Level.WARNING,
                    "run {0} cannot be parked: its code catches Throwable and continues. The worker abandons its"
                            + " thread. Catch Exception instead",
                    run.runId());
            runLast(slot, run, () -> rest(execution));
        };
        slot.execution = execution;
        if (closing) {
            execution.waits().putAway();
        }
        Write.End end;
        try {
            end = execute(execution);
            execution.settled();
            record(execution, end);
        } catch (Unwind unwind) {
            execution.end(unwind);
            rest(execution);
            return;
        }
        engine.around().counters().ended(end.state());
        slot.announced = true;
        completions.ended(run.id());
        notifyObserver(o -> o.ended(run));
    }

    /** Parks or holds a run whose execution ended before the run did. */
    private void rest(Execution execution) {
        switch (execution.over()) {
            case Unwind.Parked _ -> putAway(execution);
            case Unwind.Held held -> holdRun(execution, held);
            case Unwind other -> throw other;
            case null -> throw new IllegalStateException("an execution that has not ended cannot be parked");
        }
    }

    /** Runs the body and returns the last write of the run. */
    private Write.End execute(Execution execution) {
        Resident run = execution.run();
        boolean begun = run.driver().claim() > 1 || !execution.memory().isEmpty();
        if (run.cancel() && !begun) {
            return Endings.cancelled(execution, new RunCancelled(run.runId(), "").detail());
        }
        if (run.falls() >= engine.limits().mostFalls()) {
            if (run.cancel() && run.falls() > engine.limits().mostFalls()) {
                return Endings.cancelled(
                        execution,
                        "The worker crashed again during compensation. The remaining compensations did not run.");
            }
            if (!run.cancel()) {
                throw Endings.poison(run);
            }
        }
        Scope scope = new Scope(execution, StepPath.ROOT, false);
        try {
            JsonNode output = Objects.requireNonNull(
                    run.workflow().body().run(new DurableScope(scope), run.input()), "the body returned no value");
            scope.close();
            execution.goOn();
            return Endings.completed(execution, output);
        } catch (Unwind | Ambient.Death end) {
            throw end;
        } catch (Throwable failure) {
            scope.close();
            execution.goOn(); // user code swallowed the end of its execution; its own failure does not count
            return Endings.failed(execution, failure);
        }
    }

    private void record(Execution execution, Write.End end) {
        // CRASH(run-ending): everything is done and the end is not recorded; a restart replays the run and ends it.
        engine.around().ambient().point("run-ending");
        engine.around().counters().diskWaits.increment();
        Write.Owned owned =
                execution.joined(engine.committer().submit(execution.run().lane(), end));
        if (!owned.recorded()) {
            throw new Unwind.NotOurs();
        }
    }

    private void putAway(Execution execution) {
        boolean cancelled = execution.cancelled(); // first: a later cancel makes the run due at once
        List<Waits.Wait> all = execution.waits().all();
        // A branch that was stopped while working is due at once; this worker is closing.
        long due = execution.waits().allWait()
                ? all.stream().mapToLong(Waits.Wait::due).min().orElse(0)
                : 0;
        Waits.Wait first = all.stream()
                .filter(wait -> wait.due() == due)
                .findFirst()
                .orElse(new Waits.Wait(0, Waiting.text("worker", execution.current(), 0), false, false));
        boolean doubt = all.stream().anyMatch(Waits.Wait::doubt);
        boolean signals = all.stream().anyMatch(Waits.Wait::signals);
        String what = Waiting.all(
                all.stream().filter(Waits.Wait::doubt).findFirst().orElse(first).what(),
                all.stream().map(Waits.Wait::what).toList());
        execution.rest(
                doubt ? RunState.IN_DOUBT : RunState.WAITING,
                new Write.Rest(due, what, signals ? execution.signalsSeen() : Integer.MAX_VALUE, cancelled, false));
        engine.around().counters().putAway.increment();
        notifyObserver(o -> o.putAway(due));
    }

    private void holdRun(Execution execution, Unwind.Held held) {
        LOG.log(Level.WARNING, "run {0} is held: {1}", execution.run().runId(), held.getMessage());
        engine.around().counters().held.increment();
        misfits.note(execution.run(), held);
        Inquiry.ask(execution, Inquiry.held(held));
        execution.rest(RunState.WAITING, Endings.held(execution, held));
    }

    /** Parks waiting runs and lets active ones reach their next step. Other workers continue the rest. */
    public void close(Duration grace) {
        closing = true;
        for (Slot slot : active.values()) {
            Execution execution = slot.execution;
            if (execution != null) {
                execution.waits().putAway();
            }
        }
        try {
            if (!capacity.tryAcquire(engine.limits().residentRuns(), grace.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.log(Level.WARNING, active.size() + " runs were still active; other workers continue them");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
