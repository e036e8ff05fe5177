package dev.semel.engine;

import dev.semel.run.RunId;
import dev.semel.store.Write;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the requests that met a known name. A conflict is written before it is answered. A replay is answered at
 * once; its row joins the next flush, and a hot key's replays are gathered: the newest 20 of a flush one by one, the
 * rest per second and actor. Counts are exact either way.
 */
public final class Requests implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Requests.class.getName());
    private static final int ONE_BY_ONE = 20;
    private static final int ROWS_AT_ONCE = 1_000;
    private static final long SECOND = 1_000_000;

    private final Committer committer;
    private final Ambient ambient;
    private final Consumer<Write.Seen> observer;
    private final long pauseNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private Map<RunId, Gathered> gathering = new HashMap<>();
    private boolean closing;
    private final Thread thread;

    /** @param observer told of every row that becomes durable, for the log */
    public Requests(Committer committer, Ambient ambient, Limits limits, Consumer<Write.Seen> observer) {
        this.committer = committer;
        this.ambient = ambient;
        this.observer = observer;
        this.pauseNanos = limits.requestFlush().toNanos();
        this.thread = Thread.ofPlatform().name("semel-requests").daemon(true).start(this::loop);
    }

    /** A request as it was answered. */
    public record Met(int workspace, RunId run, long at, int statusCode, String actor, @Nullable String changed) {}

    private static final class Gathered {
        final ArrayDeque<Write.Seen> newest = new ArrayDeque<>();
        final Map<Bundle, Long> older = new HashMap<>();
    }

    private record Bundle(int workspace, long second, int statusCode, String actor, @Nullable String changed) {}

    /** Returns at once. */
    public void replayed(Met met) {
        lock.lock();
        try {
            Gathered gathered = gathering.computeIfAbsent(met.run(), _ -> new Gathered());
            gathered.newest.addLast(seen(met, false, 1));
            if (gathered.newest.size() > ONE_BY_ONE) {
                Write.Seen old = gathered.newest.removeFirst();
                Bundle bundle = new Bundle(
                        old.workspace(), old.at() / SECOND, old.statusCode(), old.actor(), old.changed());
                gathered.older.merge(bundle, 1L, Long::sum);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns when the row is durable. */
    public void conflict(Met met) {
        write(List.of(seen(met, true, 1)));
    }

    private Write.Seen seen(Met met, boolean conflict, long times) {
        return new Write.Seen(
                ambient.id(), met.workspace(), met.run(), conflict, met.at(), met.statusCode(), met.actor(),
                met.changed(), times);
    }

    private void loop() {
        boolean last = false;
        while (!last) {
            last = pause();
            try {
                flush();
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "rows of replayed requests were lost; the runs are unharmed: " + e.getMessage());
            }
        }
    }

    private boolean pause() {
        lock.lock();
        try {
            long left = pauseNanos;
            while (!closing && left > 0) {
                left = wake.awaitNanos(left);
            }
            return closing;
        } catch (InterruptedException e) {
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void flush() {
        Map<RunId, Gathered> taken;
        lock.lock();
        try {
            taken = gathering;
            gathering = new HashMap<>();
        } finally {
            lock.unlock();
        }
        List<Write.Seen> rows = new ArrayList<>();
        taken.forEach((run, gathered) -> {
            gathered.older.forEach((bundle, times) -> rows.add(seen(
                    new Met(
                            bundle.workspace(), run, bundle.second() * SECOND, bundle.statusCode(), bundle.actor(),
                            bundle.changed()),
                    false,
                    times)));
            rows.addAll(gathered.newest);
        });
        for (int from = 0; from < rows.size(); from += ROWS_AT_ONCE) {
            // CRASH(replay-answered): the repeat was answered and its row is not written; the run is unharmed.
            write(rows.subList(from, Math.min(rows.size(), from + ROWS_AT_ONCE)));
        }
    }

    private void write(List<Write.Seen> rows) {
        CompletableFuture<Boolean> done = committer.submit(0, new Write.Tally(List.copyOf(rows)));
        try {
            done.join();
            rows.forEach(observer);
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Writes what is gathered, then stops. */
    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            wake.signalAll();
        } finally {
            lock.unlock();
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(20));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
