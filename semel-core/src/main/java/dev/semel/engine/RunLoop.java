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

/** Drives runs: one virtual thread each, at most so many at a time, and never the same run twice in this process. */
public final class RunLoop {
    private static final Logger LOG = System.getLogger(RunLoop.class.getName());

    private final Engine engine;
    private final Completions completions;
    private final Semaphore room;
    private final ConcurrentHashMap<RunId, Slot> resident = new ConcurrentHashMap<>();
    private final Misfits misfits = new Misfits();
    private volatile boolean closing;

    /** What a run needs to read, to write and to reach other runs. */
    public record Engine(
            Committer committer,
            Readers readers,
            TxDesk desk,
            Children.Starter starter,
            Children.Signaller signaller,
            Limits limits,
            Committer.Surroundings around) {}

    /**
     * A run that this worker owns.
     *
     * @param runId what callers see
     * @param deadline when its time is over by the store's clock; {@link Write.Rest#NEVER} for no limit
     * @param falls how often in a row its worker died with it
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

    /** The place of one run in this process; its execution is there once it has begun. */
    private static final class Slot {
        volatile @Nullable Execution execution;
        /** Whoever asks from now on has to look: its end was told to those who waited. */
        volatile boolean told;
        /** It was claimed again before this execution had left; somebody has to look for it afterwards. */
        volatile boolean wanted;
    }

    /** Told when a run has ended or was put away, so that others look for work that this sets free. */
    public interface Observer {
        void ended(Resident run);

        void putAway(long due);

        /** A run was claimed while its last execution was still leaving; it is there to be taken up. */
        void claimedAgain();
    }

    private volatile @Nullable Observer observer;

    public RunLoop(Engine engine, Completions completions) {
        this.engine = engine;
        this.completions = completions;
        this.room = new Semaphore(engine.limits().residentRuns());
        engine.around().ambient().onJump(this::wakeAll);
    }

    public void observedBy(Observer value) {
        observer = value;
    }

    /** Room for one more run; given back by {@link #release} where it is not started after all. */
    public boolean reserve() {
        return !closing && room.tryAcquire();
    }

    public void release() {
        room.release();
    }

    /** Whether a run is in memory here. */
    public boolean drives(RunId run) {
        return resident.containsKey(run);
    }

    Misfits misfits() {
        return misfits;
    }

    /** Whether those who wait for the run hear of its end; asked after they began to wait. */
    public boolean willTell(RunId run) {
        Slot slot = resident.get(run);
        return slot != null && !slot.told;
    }

    /** How many runs this process has in memory. */
    public int residents() {
        return resident.size();
    }

    /** Something came for a run: if it waits here it looks again. False: it is not here, or not for long. */
    public boolean wake(RunId run) {
        Slot slot = resident.get(run);
        Execution execution = slot == null ? null : slot.execution;
        return execution == null ? slot != null : execution.waits().wake();
    }

    /**
     * Another worker says that something came for a run: if it is here it looks again, also whether it was cancelled.
     * False: it is not here.
     */
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
        resident.keySet().forEach(this::wake);
    }

    /** When the first of the runs in memory is due, as long as all of them wait; empty while one of them moves. */
    public OptionalLong quietUntil() {
        long first = Write.Rest.NEVER;
        for (Slot slot : resident.values()) {
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

    /** Somebody cancelled a run: if it is here it learns of it at once. */
    public void cancel(RunId run) {
        Slot slot = resident.get(run);
        Execution execution = slot == null ? null : slot.execution;
        if (execution != null) {
            execution.cancel();
        }
    }

    /** Starts a fresh run, for which room is reserved. */
    public void start(Resident run) {
        start(run, "");
    }

    /** @param carried what its journal begins with */
    void start(Resident run, String carried) {
        Slot slot = new Slot();
        if (resident.putIfAbsent(run.id(), slot) == null) {
            launch(slot, run, carried.isEmpty() ? List.of() : List.of(new Reads.Chunk(0, carried)));
        } else {
            room.release(); // it is being driven already, whatever woke it
        }
    }

    /** A run as the store has it: its journal in chunks, without what its end holds. */
    record Recorded(Resident run, List<Reads.Chunk> chunks) {}

    /**
     * Holds the place of a run, so that nobody begins to drive it: it is read only when no other execution is left in
     * this process that could still write to it. False where it is driven already.
     */
    boolean hold(RunId id) {
        Slot slot = new Slot();
        Slot taken = resident.compute(id, (_, there) -> {
            if (there != null) {
                there.wanted = true;
            }
            return there == null ? slot : there;
        });
        return taken == slot;
    }

    /** Lets go of a place that is held and not driven. */
    void letGo(RunId id) {
        resident.remove(id);
    }

    /** Goes on with a run whose place is held, for which room is reserved. */
    void goOn(Recorded recorded) {
        launch(Objects.requireNonNull(resident.get(recorded.run().id())), recorded.run(), recorded.chunks());
    }

    private void launch(Slot slot, Resident run, List<Reads.Chunk> chunks) {
        engine.around().ambient().start("run", () -> leaving(slot, run, () -> drive(slot, run, chunks)));
    }

    /** The last thing that a thread does for a run: whatever comes of it, the place of the run is free afterwards. */
    private void leaving(Slot slot, Resident run, Runnable last) {
        boolean dropped = false;
        try {
            last.run();
        } catch (Unwind.NotOurs e) {
            dropped = true;
            LOG.log(Level.INFO, "run {0} goes on at another worker", run.runId());
        } catch (Unwind.Lost e) {
            dropped = true; // the store still says that it is ours, so it is looked for and taken up again
            LOG.log(Level.WARNING, "run " + run.runId() + " stopped and is taken up again later: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            dropped = true;
            if (!Ambient.Death.isIn(e)) {
                LOG.log(Level.ERROR, "run " + run.runId() + " stopped; it is taken up again later", e);
            }
        } finally {
            resident.remove(run.id());
            room.release();
            if (dropped || slot.wanted) {
                engine.around().counters().droppedRuns.increment(); // ours in the store and not here: looked for
            }
            if (slot.wanted) {
                tell(Observer::claimedAgain);
            }
        }
    }

    private void tell(Consumer<Observer> what) {
        Observer told = observer;
        if (told != null) {
            what.accept(told);
        }
    }

    private void drive(Slot slot, Resident run, List<Reads.Chunk> chunks) {
        Execution execution = new Execution(run, engine, chunks);
        execution.leftBehind = () -> {
            LOG.log(
                    Level.WARNING,
                    "run {0} does not let itself be put away: its code catches Throwable and goes on. Its thread is"
                            + " left behind; catch Exception instead",
                    run.runId());
            leaving(slot, run, () -> rest(execution));
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
        slot.told = true;
        completions.ended(run.id());
        tell(told -> told.ended(run));
    }

    /** The execution is over and the run has not ended. */
    private void rest(Execution execution) {
        switch (execution.over()) {
            case Unwind.Parked _ -> putAway(execution);
            case Unwind.Held held -> hold(execution, held);
            case Unwind other -> throw other;
            case null -> throw new IllegalStateException("an execution that is not over does not rest");
        }
    }

    /** The last line of a run's story, whatever its code did. */
    private Write.End execute(Execution execution) {
        Resident run = execution.run();
        boolean begun = run.driver().claim() > 1 || !execution.memory().isEmpty();
        if (run.cancel() && !begun) {
            return Endings.cancelled(execution, new RunCancelled(run.runId(), "").detail());
        }
        if (run.falls() >= engine.limits().mostFalls()) {
            if (run.cancel() && run.falls() > engine.limits().mostFalls()) {
                return Endings.cancelled(
                        execution, "Its worker died once more while it was undone. It was given up there.");
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
            execution.goOn(); // code that swallowed the end of its execution has nothing more to say
            return Endings.failed(execution, failure);
        }
    }

    private void record(Execution execution, Write.End end) {
        // CRASH(run-ending): everything is done and the end is not on record; a restart replays it and ends it.
        engine.around().ambient().point("run-ending");
        engine.around().counters().diskWaits.increment();
        Write.Owned owned =
                execution.joined(engine.committer().submit(execution.run().lane(), end));
        if (!owned.recorded()) {
            throw new Unwind.NotOurs();
        }
    }

    private void putAway(Execution execution) {
        boolean cancelled = execution.cancelled(); // first: a cancel that comes after it makes the run due at once
        List<Waits.Wait> all = execution.waits().all();
        // A branch that was stopped at work is due at once; this worker ends.
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
        tell(told -> told.putAway(due));
    }

    private void hold(Execution execution, Unwind.Held held) {
        LOG.log(Level.WARNING, "run {0} is held: {1}", execution.run().runId(), held.getMessage());
        engine.around().counters().held.increment();
        misfits.note(execution.run(), held);
        Inquiry.ask(execution, Inquiry.held(held));
        execution.rest(RunState.WAITING, Endings.held(execution, held));
    }

    /** Puts away what waits and lets what works come to its next step; what is left is taken up elsewhere. */
    public void close(Duration grace) {
        closing = true;
        for (Slot slot : resident.values()) {
            Execution execution = slot.execution;
            if (execution != null) {
                execution.waits().putAway();
            }
        }
        try {
            if (!room.tryAcquire(engine.limits().residentRuns(), grace.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.log(Level.WARNING, resident.size() + " runs were still at work; they are handed over to others");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
