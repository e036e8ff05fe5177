package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.journal.Resumptions;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.workflow.Published;
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

/**
 * Claims runs that no worker executes and starts them here, and sweeps expired data.
 * Such runs are left by a crash, queued, or admitted without free capacity. Polling finds all of them; a wake-up only
 * makes it earlier.
 */
public final class Dispatcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Dispatcher.class.getName());
    private static final long PAUSE_MILLIS = 500;
    private static final long SWEEPING_MILLIS = 20;
    private static final int CLAIM_AT_ONCE = 500;
    private static final int READ_AT_ONCE = 50;
    private static final int CRASHES_BEFORE_TRIAL = 2;
    private static final int ADOPT_AT_ONCE = 1_000;
    private static final long ADOPT_REST_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long HELD_REST_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long TRIAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Intake.Parts parts;
    private final Catalog catalog;
    private final Sweep sweep;
    private final Committer.Surroundings dependencies;
    private final Bell wakeSignal = new Bell();
    private final Thread thread;
    private @Nullable RunId onTrial;
    private long trialEnds;
    private long settledDoubts;
    private long nextAdoption = Long.MIN_VALUE;
    private long nextHeldLook;
    private long untilNext = Long.MAX_VALUE;
    private final Set<String> unregistered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger registrations = new AtomicInteger();

    public Dispatcher(Intake.Parts parts, Catalog catalog, Limits limits, Committer.Surroundings dependencies) {
        this.parts = parts;
        this.catalog = catalog;
        this.sweep = new Sweep(parts, limits, dependencies);
        this.dependencies = dependencies;
        this.nextHeldLook =
                // workflows that are registered until then wake their runs themselves
                dependencies.ambient().nanos() + HELD_REST_NANOS;
        dependencies.ambient().onJump(this::wakeUp);
        this.thread = Thread.ofPlatform().name("semel-dispatch").daemon(true).start(this::loop);
    }

    /** Looks for runs at once. */
    public void wakeUp() {
        wakeSignal.ring();
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isOver()) {
            try {
                catalog.check();
                boolean more = !parts.committer().isOutdated() && work();
                failures = 0;
                if (!more) {
                    pause();
                }
            } catch (RuntimeException e) {
                if (Ambient.Death.isIn(e)) {
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
        sweep.step();
        return more;
    }

    /** Returns true if there may be more to claim at once. */
    private boolean claim() {
        Due due = parts.readers().ask(reads -> {
            long next = reads.nextDue();
            return new Due(next, next == Write.Rest.NEVER ? 0 : reads.now()); // skips the clock query if nothing waits
        });
        if (due.next() > due.now()) {
            untilNext = due.next() == Write.Rest.NEVER ? Long.MAX_VALUE : (due.next() - due.now()) * 1_000;
            return false;
        }
        untilNext = Long.MAX_VALUE;
        boolean more = claim(CLAIM_AT_ONCE, CRASHES_BEFORE_TRIAL) == CLAIM_AT_ONCE;
        trial();
        return more;
    }

    /**
     * Returns how many runs it claimed. Reserves capacity first: a claimed run that does not execute waits for our
     * lease to expire.
     */
    private int claim(int most, int maxCrashes) {
        int room = 0;
        while (room < most && parts.runs().reserve()) {
            room++;
        }
        int left = room;
        try {
            List<Write.Driver> claimed = parts.committer()
                    .submit(0, new Write.Claim(room, List.copyOf(unregistered), maxCrashes))
                    .join();
            for (int from = 0; from < claimed.size(); from += READ_AT_ONCE) {
                List<Write.Driver> some = claimed.subList(from, Math.min(from + READ_AT_ONCE, claimed.size()));
                left -= resume(some);
            }
            onTrial = maxCrashes > CRASHES_BEFORE_TRIAL && left < room
                    ? claimed.getFirst().run()
                    : onTrial;
            return claimed.size();
        } finally {
            for (int i = 0; i < left; i++) {
                parts.runs().release();
            }
        }
    }

    /**
     * Executes runs that were active in several worker crashes one at a time, since one of them may be the cause.
     * After one or two crashes all runs are claimed together. A suspect is on trial until it ends, parks, or has run
     * for a while.
     */
    private void trial() {
        long now = dependencies.ambient().nanos();
        RunId tried = onTrial;
        if (tried == null || !parts.runs().drives(tried) || now >= trialEnds) {
            onTrial = null;
            trialEnds = now + TRIAL_NANOS;
            claim(1, Integer.MAX_VALUE);
        }
    }

    /**
     * Finds runs that the store lists as ours but that do not execute here, and releases them.
     * Causes: a COMMIT whose response was lost, or a lease that was unusable for a moment. Runs after every such event,
     * and periodically.
     */
    private void adopt() {
        Long lease = parts.committer().lease();
        long doubts = dependencies.counters().doubts();
        long now = dependencies.ambient().nanos();
        if (lease == null || (doubts == settledDoubts && now < nextAdoption)) {
            return;
        }
        RunId last = null;
        do {
            RunId after = last;
            List<Write.Driver> page = parts.readers().ask(reads -> reads.owned(lease, after, ADOPT_AT_ONCE));
            for (Write.Driver driver : page) {
                if (!parts.runs().drives(driver.run())) {
                    releaseOwned(driver);
                }
            }
            last = page.size() < ADOPT_AT_ONCE ? null : page.getLast().run();
        } while (last != null);
        settledDoubts = doubts;
        nextAdoption = now + ADOPT_REST_NANOS;
    }

    /**
     * Wakes runs that are held because the code of some worker did not fit: the code of this worker may.
     * A worker with old code can hold a run after new code was registered elsewhere, and then nothing else would wake
     * it.
     */
    private void tryHeld() {
        long now = dependencies.ambient().nanos();
        if (now < nextHeldLook) {
            return;
        }
        nextHeldLook = now + HELD_REST_NANOS;
        RunId last = null;
        do {
            RunId after = last;
            List<Reads.Misfit> page = parts.readers().ask(reads -> reads.held(after, ADOPT_AT_ONCE));
            List<RunId> untried = page.stream()
                    .filter(held -> !unregistered.contains(held.workflowId()))
                    .map(Reads.Misfit::run)
                    .filter(run -> !parts.runs().misfits().has(run))
                    .toList();
            if (!untried.isEmpty()) {
                parts.committer()
                        .submit(0, new Write.Change<>(new Edit.Wake(untried)))
                        .join();
                wakeUp();
            }
            last = page.size() < ADOPT_AT_ONCE ? null : page.getLast().run();
        } while (last != null);
    }

    /**
     * Releases a run of ours that does not execute, so that it is claimed like any other.
     * Under the old claim, a new execution would look like the previous one, and the ledger would confuse their
     * reservations.
     */
    private void releaseOwned(Write.Driver driver) {
        if (!parts.runs().hold(driver.run())) {
            return;
        }
        try {
            release(driver);
        } finally {
            parts.runs().letGo(driver.run());
        }
        wakeUp();
    }

    private void release(Write.Driver driver) {
        parts.committer()
                .submit(0, new Write.Change<>(new Edit.GiveBack(driver)))
                .join();
    }

    private record Due(long next, long now) {}

    /** Starts the claimed runs and returns how many. Each uses one reserved slot. */
    private int resume(List<Write.Driver> claimed) {
        Map<RunId, Write.Driver> held = new LinkedHashMap<>();
        for (Write.Driver driver : claimed) {
            if (parts.runs().hold(driver.run())) {
                held.put(driver.run(), driver);
            }
        }
        int driven = 0;
        try {
            List<RunId> ids = List.copyOf(held.keySet());
            for (Reads.Recorded read : parts.readers().ask(reads -> reads.recorded(ids))) {
                RunLoop.Recorded recorded =
                        recorded(Objects.requireNonNull(held.get(read.run().id())), read);
                if (recorded != null) {
                    held.remove(recorded.run().id());
                    parts.runs().goOn(recorded);
                    driven++;
                }
            }
        } catch (StoreFailure e) {
            dependencies.counters().droppedRuns.increment(); // ours in the store, not executing: adopt() finds it
            throw e;
        } finally {
            held.keySet().forEach(parts.runs()::letGo);
        }
        return driven;
    }

    private RunLoop.@Nullable Recorded recorded(Write.Driver driver, Reads.Recorded read) {
        int before = registrations.get();
        try {
            return of(driver, read);
        } catch (Catalog.NotKnownHere e) {
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
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "run " + driver.run().text() + " cannot execute at this worker: " + e.getMessage());
        }
        return null;
    }

    /** Called when a workflow was registered, so that its runs can execute here. */
    public void knows(String workflowId) {
        registrations.incrementAndGet(); // before the removal, so that concurrent additions notice
        unregistered.remove(workflowId);
        parts.runs().misfits().forget(workflowId);
        wakeUp();
    }

    private RunLoop.@Nullable Recorded of(Write.Driver driver, Reads.Recorded read) {
        RunId id = driver.run();
        Rows.Run run = read.run();
        Rows.Work work = run.work();
        if (run.end() != null || work == null) {
            return null;
        }
        dependencies.counters().recovered.increment();
        // A resumed run uses the version and the start time of its last resumption.
        Entry.Resumed resumed =
                Resumptions.isResumed(driver.claim()) ? Resumptions.last(Earlier.record(run, read.journal())) : null;
        Published workflow = catalog.version(run.workflowId(), resumed == null ? run.version() : resumed.version());
        long begun = resumed == null ? run.createdAt() : resumed.at();
        Duration longest = workflow.extras().deadline();
        return new RunLoop.Recorded(
                new RunLoop.Resident(
                        driver,
                        run.ws(),
                        workflow,
                        Json.parse(run.input()),
                        run.lineage(),
                        Math.floorMod(Long.hashCode(id.low()), parts.committer().lanes()),
                        run.runIdText(),
                        longest == null ? Write.Rest.NEVER : Micros.after(begun, longest),
                        work.falls(),
                        work.cancel(),
                        run.parent(),
                        run.depth()),
                read.journal());
    }

    private void pause() {
        long pause = TimeUnit.MILLISECONDS.toNanos(sweep.foundSomething() ? SWEEPING_MILLIS : PAUSE_MILLIS);
        wakeSignal.await(Math.min(untilNext, pause));
        wakeSignal.hear();
    }

    @Override
    public void close() {
        wakeSignal.end(thread);
    }
}
