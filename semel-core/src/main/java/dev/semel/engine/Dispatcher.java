package dev.semel.engine;

import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The housekeeping of a worker: claims runs that nobody drives (left by a crash, queued, or admitted without room) and
 * sweeps tombstones. Looking is the truth; a wake-up only makes it look sooner.
 */
public final class Dispatcher implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Dispatcher.class.getName());
    private static final long PAUSE_MILLIS = 500;
    private static final int CLAIM_AT_ONCE = 500;
    private static final int SWEEP_AT_ONCE = 1_000;
    private static final long SWEEP_REST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Intake.Parts parts;
    private final Catalog catalog;
    private final Limits limits;
    private final Committer.Surroundings around;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private final Thread thread;
    /** Claimed by this worker and not driven yet. */
    private final ArrayDeque<RunId> unread = new ArrayDeque<>();

    private boolean woken;
    private volatile boolean closing;
    private @Nullable Name sweptTo;
    private long nextSweep = Long.MIN_VALUE;

    public Dispatcher(Intake.Parts parts, Catalog catalog, Limits limits, Committer.Surroundings around) {
        this.parts = parts;
        this.catalog = catalog;
        this.limits = limits;
        this.around = around;
        this.thread = Thread.ofPlatform().name("semel-dispatch").daemon(true).start(this::loop);
    }

    /** Look now. */
    public void wakeUp() {
        lock.lock();
        try {
            woken = true;
            wake.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void loop() {
        while (!closing) {
            try {
                catalog.check();
                boolean more = claim();
                sweep();
                if (!more) {
                    pause();
                }
            } catch (RuntimeException e) {
                LOG.log(Level.WARNING, "claiming runs failed and will be tried again: " + e.getMessage());
                pause();
            }
        }
    }

    /** True when there may be more to claim at once. */
    private boolean claim() {
        tryUnread();
        if (parts.runs().roomLeft() == 0 || !parts.readers().ask(reads -> reads.freeWork())) {
            return false;
        }
        int room = 0;
        // Room first: a run that is claimed and not driven would belong to this worker for as long as it lives.
        while (room < CLAIM_AT_ONCE && parts.runs().reserve()) {
            room++;
        }
        int limit = room;
        try {
            List<RunId> claimed = parts.committer().submit(0, new Write.Claim(limit)).join();
            for (RunId run : claimed) {
                room--;
                if (!resume(run)) {
                    unread.add(run);
                }
            }
            return claimed.size() == limit;
        } finally {
            for (; room > 0; room--) {
                parts.runs().release();
            }
        }
    }

    /** Uses the room that is reserved for it, or gives it back. False: this worker cannot read the run now. */
    private boolean resume(RunId id) {
        boolean started = false;
        try {
            Rows.Run run = parts.readers().maybe(reads -> reads.claimed(id));
            if (run == null || run.end() != null) {
                return true;
            }
            List<String> chunks = parts.readers().ask(reads -> reads.journal(id));
            var resident = new RunLoop.Resident(
                    id, catalog.version(run.workflowId(), run.version()), Json.parse(run.input()), run.lineage(), 0,
                    run.runIdText());
            around.counters().recovered.increment();
            started = true;
            parts.runs().start(resident, chunks);
            return true;
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "run " + id + " cannot be read and will be tried again: " + e.getMessage());
            return false;
        } finally {
            if (!started) {
                parts.runs().release();
            }
        }
    }

    /** A moment later the store answers again, or the workflow can be read. */
    private void tryUnread() {
        for (int left = unread.size(); left > 0 && parts.runs().reserve(); left--) {
            RunId run = unread.remove();
            if (!resume(run)) {
                unread.add(run);
            }
        }
    }

    /** Walks over all names, a slice at a time, far behind their expiry; then rests before the next walk. */
    private void sweep() {
        long now = around.ambient().nanos();
        if (now < nextSweep) {
            return;
        }
        long keep = limits.tombstones().toNanos() / 1_000;
        Reads.Slice slice =
                parts.readers().ask(reads -> reads.tombstones(sweptTo, SWEEP_AT_ONCE, reads.now() - keep));
        if (!slice.found().isEmpty()) {
            parts.committer().submit(0, new Write.Change<>(new Edit.DeleteNames(slice.found()))).join();
        }
        sweptTo = slice.next();
        nextSweep = sweptTo == null ? now + SWEEP_REST_NANOS : now;
    }

    private void pause() {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
            while (!closing && !woken && left > 0) {
                left = wake.awaitNanos(left);
            }
            woken = false;
        } catch (InterruptedException e) {
            closing = true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        closing = true;
        wakeUp();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
