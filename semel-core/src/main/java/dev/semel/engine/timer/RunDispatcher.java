package dev.semel.engine.timer;

import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.commit.BackgroundLoopWaker;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.effect.ExpiredResendReviewer;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.ResumedRunJournalReader;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.store.CrashCount;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Unowned runs are queued, left by a crash, or admitted without capacity. Polling finds all; a wake-up is a hint. */
public final class RunDispatcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(RunDispatcher.class.getName());
    private static final long PAUSE_MILLIS = 500;
    private static final long SWEEPING_MILLIS = 20;
    private static final int CLAIM_AT_ONCE = 500;
    private static final int READ_AT_ONCE = 50;
    private static final int ADOPT_AT_ONCE = 1_000;
    private static final long ADOPT_REST_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long HELD_REST_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final RunExecutor runs;
    private final WorkflowCatalog catalog;
    private final RetentionSweeper sweep;
    private final ExpiredResendReviewer expiredResends;
    private final GroupCommitter.EngineDependencies dependencies;
    private final BackgroundLoopWaker wakeSignal = new BackgroundLoopWaker();
    private final Thread thread;
    private final SuspectTrial suspects = new SuspectTrial();
    private long settledDoubts;
    private long nextAdoption = Long.MIN_VALUE;
    private long nextHeldLook;
    private long untilNext = Long.MAX_VALUE;
    private final Set<String> unregistered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger registrations = new AtomicInteger();

    public RunDispatcher(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            RunExecutor runs,
            WorkflowCatalog catalog,
            EngineLimits limits,
            GroupCommitter.EngineDependencies dependencies) {
        this.committer = committer;
        this.readers = readers;
        this.runs = runs;
        this.catalog = catalog;
        this.sweep = new RetentionSweeper(committer, readers, limits, dependencies);
        this.expiredResends = new ExpiredResendReviewer(committer, readers, dependencies.environment());
        this.dependencies = dependencies;
        this.nextHeldLook =
                // workflows that are registered until then wake their runs themselves
                dependencies.environment().nanos() + HELD_REST_NANOS;
        dependencies.environment().onClockJump(this::wakeUp);
        this.thread = dependencies
                .threads()
                .watch(Thread.ofPlatform().name("semel-dispatch").daemon(true).start(this::loop));
    }

    public void wakeUp() {
        wakeSignal.wake();
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isStopped()) {
            try {
                catalog.refresh();
                boolean more = !committer.isOutdated() && work();
                failures = 0;
                if (!more) {
                    pause();
                }
            } catch (RuntimeException e) {
                if (ClockAndRandomSource.SimulatedCrash.causes(e)) {
                    return;
                }
                if (failures++ == 0) { // log an outage once, not twice a second
                    LOG.log(Level.WARNING, "claiming runs failed; the worker retries: " + e.getMessage());
                }
                pause();
            }
        }
    }

    private boolean work() {
        boolean more = claim();
        adopt();
        tryHeld();
        sweep.sweepSlice();
        expiredResends.reviewSlice();
        return more;
    }

    /** Returns true if there may be more to claim at once. */
    private boolean claim() {
        Due due = readers.read(reads -> {
            long next = reads.nextDue();
            return new Due(
                    next,
                    next == StoreWrite.Suspension.NEVER ? 0 : reads.now()); // skips the clock query if nothing waits
        });
        if (due.next() > due.now()) {
            untilNext = due.next() == StoreWrite.Suspension.NEVER ? Long.MAX_VALUE : (due.next() - due.now()) * 1_000;
            return false;
        }
        untilNext = Long.MAX_VALUE;
        boolean more = claim(CLAIM_AT_ONCE, CrashCount.BEFORE_TRIAL) == CLAIM_AT_ONCE;
        trial();
        return more;
    }

    /** Reserves capacity first: a claimed run that does not execute would wait for our lease to expire. */
    private int claim(int most, int maxCrashes) {
        int room = 0;
        while (room < most && runs.reserveCapacity()) {
            room++;
        }
        int left = room;
        try {
            List<StoreWrite.RunExecution> claimed = committer
                    .submit(
                            0,
                            new StoreWrite.ClaimRuns(
                                    room,
                                    List.copyOf(unregistered),
                                    maxCrashes,
                                    runs.memory().available()))
                    .join();
            if (claimed.size() < room) {
                runs.memory().noteUnclaimed();
            }
            for (int from = 0; from < claimed.size(); from += READ_AT_ONCE) {
                List<StoreWrite.RunExecution> some =
                        claimed.subList(from, Math.min(from + READ_AT_ONCE, claimed.size()));
                left -= resume(some);
            }
            return claimed.size();
        } finally {
            for (int i = 0; i < left; i++) {
                runs.releaseCapacity();
            }
        }
    }

    /** Runs that were active in several worker crashes execute in small groups: {@link SuspectTrial}. */
    private void trial() {
        int room = suspects.room(dependencies.environment().nanos(), runs::isActive);
        if (room > 0) {
            claim(room, Integer.MAX_VALUE);
        }
    }

    /**
     * Releases runs that the store lists as ours but that do not execute here: a COMMIT response was lost, or a lease
     * was unusable for a moment. Runs after every such event, and periodically.
     */
    private void adopt() {
        Long lease = committer.lease();
        long doubts = dependencies.counters().ownershipDoubts();
        long now = dependencies.environment().nanos();
        if (lease == null || (doubts == settledDoubts && now < nextAdoption)) {
            return;
        }
        RunId last = null;
        do {
            RunId after = last;
            List<StoreWrite.RunExecution> page = readers.read(reads -> reads.runsOfLease(lease, after, ADOPT_AT_ONCE));
            for (StoreWrite.RunExecution driver : page) {
                if (!runs.isActive(driver.run())) {
                    releaseOwned(driver);
                }
            }
            last = page.size() < ADOPT_AT_ONCE ? null : page.getLast().run();
        } while (last != null);
        settledDoubts = doubts;
        nextAdoption = now + ADOPT_REST_NANOS;
    }

    /**
     * The code of this worker may fit. A worker with old code can hold a run after new code was registered elsewhere,
     * and then nothing else would wake it.
     */
    private void tryHeld() {
        long now = dependencies.environment().nanos();
        if (now < nextHeldLook) {
            return;
        }
        nextHeldLook = now + HELD_REST_NANOS;
        RunId last = null;
        do {
            RunId after = last;
            List<StoreQueries.HeldRun> page = readers.read(reads -> reads.heldRuns(after, ADOPT_AT_ONCE));
            List<RunId> untried = page.stream()
                    .filter(held -> !unregistered.contains(held.workflowId()))
                    .map(StoreQueries.HeldRun::run)
                    .filter(run -> !runs.incompatibleRuns().contains(run))
                    .toList();
            if (!untried.isEmpty()) {
                committer.execute(new StoreWriteCommand.WakeRuns(untried));
                wakeUp();
            }
            last = page.size() < ADOPT_AT_ONCE ? null : page.getLast().run();
        } while (last != null);
    }

    /** Under the old claim the ledger would confuse the reservations of a new execution with the previous ones. */
    private void releaseOwned(StoreWrite.RunExecution driver) {
        if (!runs.reserveSlot(driver.run())) {
            return;
        }
        try {
            release(driver);
        } finally {
            runs.releaseSlot(driver.run());
        }
        wakeUp();
    }

    private void release(StoreWrite.RunExecution driver) {
        committer.execute(new StoreWriteCommand.ReturnRun(driver));
    }

    private record Due(long next, long now) {}

    /** Starts the claimed runs and returns how many. Each uses one reserved slot. */
    private int resume(List<StoreWrite.RunExecution> claimed) {
        Map<RunId, StoreWrite.RunExecution> held = new LinkedHashMap<>();
        for (StoreWrite.RunExecution driver : claimed) {
            if (runs.reserveSlot(driver.run())) {
                held.put(driver.run(), driver);
            }
        }
        int started = 0;
        try {
            List<RunId> ids = List.copyOf(held.keySet());
            for (StoreQueries.JournaledRun read : readers.read(reads -> reads.runsWithJournal(ids))) {
                RunExecutor.RecordedRun recorded =
                        recorded(Objects.requireNonNull(held.get(read.run().id())), read);
                if (recorded != null) {
                    held.remove(recorded.run().id());
                    CrashCount crashes = recorded.run().crashCount();
                    if (crashes.isOnTrial()) {
                        suspects.begin(
                                recorded.run().id(),
                                crashes,
                                dependencies.environment().nanos());
                    }
                    runs.resume(recorded);
                    started++;
                }
            }
        } catch (StoreFailure e) {
            dependencies.counters().droppedRuns.increment(); // ours in the store, not executing: adopt() finds it
            throw e;
        } finally {
            held.keySet().forEach(runs::releaseSlot);
        }
        return started;
    }

    private RunExecutor.@Nullable RecordedRun recorded(StoreWrite.RunExecution driver, StoreQueries.JournaledRun read) {
        int before = registrations.get();
        try {
            return of(driver, read);
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            if (unregistered.add(e.workflowId())) {
                LOG.log(
                        Level.WARNING,
                        "workflow {0} is not registered at this worker; other workers must execute its runs",
                        e.workflow());
            }
            if (registrations.get() != before) {
                unregistered.remove(e.workflowId()); // it may have been registered meanwhile: look again
            }
            release(driver);
        } catch (RuntimeException | StackOverflowError e) { // a deeply nested definition must not end the dispatcher
            LOG.log(Level.ERROR, "run " + driver.run().text() + " cannot execute at this worker: " + e.getMessage());
        }
        return null;
    }

    /** Called when a workflow was registered, so that its runs can execute here. */
    public void onWorkflowRegistered(String workflowId) {
        registrations.incrementAndGet(); // before the removal, so that concurrent additions notice
        unregistered.remove(workflowId);
        runs.incompatibleRuns().forget(workflowId);
        wakeUp();
    }

    private RunExecutor.@Nullable RecordedRun of(StoreWrite.RunExecution driver, StoreQueries.JournaledRun read) {
        RunId id = driver.run();
        DatabaseRows.RunRow run = read.run();
        DatabaseRows.RunProgress work = run.progress();
        if (run.end() != null || work == null) {
            return null;
        }
        dependencies.counters().recovered.increment();
        // A resumed run uses the version and the start time of its last resumption.
        JournalEntry.RunResumption resumed = ResumedRunJournalReader.isAfterResumption(driver.claim())
                ? ResumedRunJournalReader.last(PreviousRunResultFinder.readJournal(run, read.journal()))
                : null;
        WorkflowVersion workflow =
                catalog.version(run.workflowId(), resumed == null ? run.version() : resumed.version());
        long begun = resumed == null ? run.createdAt() : resumed.at();
        Duration longest = workflow.options().deadline();
        return new RunExecutor.RecordedRun(
                new ActiveRun(
                        driver,
                        run.ws(),
                        workflow,
                        run.input(),
                        run.lineage(),
                        Math.floorMod(Long.hashCode(id.low()), committer.lanes()),
                        run.runIdText(),
                        longest == null ? StoreWrite.Suspension.NEVER : MicrosecondConverter.after(begun, longest),
                        new CrashCount(work.crashCount()),
                        work.cancelRequested(),
                        run.parent(),
                        run.depth()),
                read.journal());
    }

    private void pause() {
        long pause = TimeUnit.MILLISECONDS.toNanos(sweep.removedSomething() ? SWEEPING_MILLIS : PAUSE_MILLIS);
        wakeSignal.await(Math.min(untilNext, pause));
        wakeSignal.clear();
    }

    @Override
    public void close() {
        wakeSignal.stop(thread);
    }
}
