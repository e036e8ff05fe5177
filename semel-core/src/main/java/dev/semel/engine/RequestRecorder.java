package dev.semel.engine;

import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
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
import org.jspecify.annotations.Nullable;

/**
 * Records requests that met an existing key.
 * A conflict is written before it is answered. A replayed request is answered at once and its row joins the next flush.
 * Per flush and run, the newest 20 get single rows; the rest are counted per second and actor. Counts are exact either
 * way.
 */
public final class RequestRecorder implements AutoCloseable {
    private static final Logger LOG = System.getLogger(RequestRecorder.class.getName());
    private static final int ONE_BY_ONE = 20;
    private static final int ROWS_AT_ONCE = 1_000;
    private static final long SECOND = 1_000_000;

    private final GroupCommitter committer;
    private final EngineEnvironment ambient;
    private final RecordedRequestObserver observer;
    private final long pauseNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private Map<RunId, Gathered> gathering = new HashMap<>();
    private boolean closing;
    private final Thread thread;

    /** @param observer called for every durable row, for the log */
    public RequestRecorder(
            GroupCommitter committer,
            EngineEnvironment ambient,
            EngineLimits limits,
            RecordedRequestObserver observer) {
        this.committer = committer;
        this.ambient = ambient;
        this.observer = observer;
        this.pauseNanos = limits.requestFlush().toNanos();
        this.thread = Thread.ofPlatform().name("semel-requests").daemon(true).start(this::loop);
    }

    /** Called for every row that became durable; {@code key} is shortened, or null if there was none. */
    @FunctionalInterface
    public interface RecordedRequestObserver {
        void onRecorded(StoreWrite.DuplicateRequest row, @Nullable String key);
    }

    /** A request with its response. */
    public record AnsweredRequest(
            int workspace,
            RunId run,
            long at,
            int statusCode,
            String actor,
            @Nullable String changed,
            @Nullable String key) {}

    private record Row(
            StoreWrite.DuplicateRequest seen, @Nullable String key) {}

    private static final class Gathered {
        final ArrayDeque<Row> newest = new ArrayDeque<>();
        final Map<Bundle, Sum> older = new HashMap<>();
    }

    private record Bundle(
            int workspace,
            long second,
            int statusCode,
            String actor,
            @Nullable String changed,
            @Nullable String key) {}

    /** Equal requests counted together, under the id of the last one, so that newer rows sort after it. */
    private record Sum(RunId id, long times) {
        Sum plus(Sum later) {
            return new Sum(later.id(), times + later.times());
        }
    }

    /** Returns at once. */
    public void recordReplayed(AnsweredRequest request) {
        lock.lock();
        try {
            Gathered gathered = gathering.computeIfAbsent(request.run(), _ -> new Gathered());
            gathered.newest.addLast(row(request, false));
            if (gathered.newest.size() > ONE_BY_ONE) {
                Row row = gathered.newest.removeFirst();
                StoreWrite.DuplicateRequest old = row.seen();
                Bundle bundle = new Bundle(
                        old.workspace(), old.at() / SECOND, old.statusCode(), old.actor(), old.changed(), row.key());
                gathered.older.merge(bundle, new Sum(old.id(), 1), Sum::plus);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns when the row is durable. */
    public void recordConflict(AnsweredRequest request) {
        write(List.of(row(request, true)), true);
    }

    private Row row(AnsweredRequest request, boolean conflict) {
        StoreWrite.DuplicateRequest seen = new StoreWrite.DuplicateRequest(
                ambient.newId(),
                request.workspace(),
                request.run(),
                conflict,
                request.at(),
                request.statusCode(),
                request.actor(),
                request.changed(),
                1);
        return new Row(seen, request.key());
    }

    private void loop() {
        boolean last = false;
        while (!last) {
            last = pause();
            try {
                flush();
            } catch (RuntimeException | EngineEnvironment.SimulatedCrash e) {
                if (EngineEnvironment.SimulatedCrash.causes(e)) {
                    return;
                }
                LOG.log(
                        Level.ERROR,
                        "recording replayed requests failed; their rows are lost, the runs are not affected: "
                                + e.getMessage());
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
        List<Row> rows = new ArrayList<>();
        taken.forEach((run, gathered) -> {
            gathered.older.forEach((bundle, sum) -> rows.add(new Row(
                    new StoreWrite.DuplicateRequest(
                            sum.id(),
                            bundle.workspace(),
                            run,
                            false,
                            bundle.second() * SECOND,
                            bundle.statusCode(),
                            bundle.actor(),
                            bundle.changed(),
                            sum.times()),
                    bundle.key())));
            rows.addAll(gathered.newest);
        });
        for (int from = 0; from < rows.size(); from += ROWS_AT_ONCE) {
            // CRASH(replay-answered): the repeat was answered and its row is not written; the run is not affected.
            ambient.point("replay-answered");
            write(rows.subList(from, Math.min(rows.size(), from + ROWS_AT_ONCE)), false);
        }
    }

    private void write(List<Row> rows, boolean soon) {
        List<StoreWrite.DuplicateRequest> seen = rows.stream().map(Row::seen).toList();
        StoreWrite.RecordDuplicates tally = new StoreWrite.RecordDuplicates(seen);
        CompletableFuture<Boolean> done = soon ? committer.submitWithDeadline(0, tally) : committer.submit(0, tally);
        try {
            done.join();
            rows.forEach(row -> observer.onRecorded(row.seen(), row.key()));
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** Writes the buffered rows, then stops. */
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
