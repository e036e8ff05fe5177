package dev.semel.engine.admission;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.commit.BackgroundLoopWaker;
import dev.semel.engine.commit.GroupCommitter;
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
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A conflict is written before it is answered; a replayed request is answered at once and joins the next flush. Per
 * flush and run, the newest 20 get single rows; the rest are counted per second and actor. Counts are exact.
 */
public final class DuplicateRequestRecorder implements AutoCloseable {
    private static final Logger LOG = System.getLogger(DuplicateRequestRecorder.class.getName());
    private static final int ONE_BY_ONE = 20;
    private static final int ROWS_AT_ONCE = 1_000;
    private static final long SECOND = 1_000_000;

    private final GroupCommitter committer;
    private final ClockAndRandomSource ambient;
    private final RecordedRequestObserver observer;
    private final long pauseNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final BackgroundLoopWaker wakeSignal = new BackgroundLoopWaker();
    private Map<RunId, Gathered> gathering = new HashMap<>();
    private final Thread thread;

    /** @param observer called for every durable row, for the log */
    public DuplicateRequestRecorder(
            GroupCommitter committer,
            ClockAndRandomSource ambient,
            EngineLimits limits,
            RecordedRequestObserver observer) {
        this.committer = committer;
        this.ambient = ambient;
        this.observer = observer;
        this.pauseNanos = limits.requestFlush().toNanos();
        this.thread = Thread.ofPlatform().name("semel-requests").daemon(true).start(this::loop);
    }

    public Thread thread() {
        return thread;
    }

    /** Called for every row that became durable; {@code key} is shortened, or null if there was none. */
    @FunctionalInterface
    public interface RecordedRequestObserver {
        void onRecorded(StoreWrite.DuplicateRequest row, @Nullable String key);
    }

    /**
     * @param key shortened, for the log
     * @param rejectedKey the whole key of a rejected request that met the run by another identifier; otherwise null
     */
    public record AnsweredRequest(
            int workspace,
            RunId run,
            long at,
            int statusCode,
            String actor,
            @Nullable String changed,
            @Nullable String key,
            @Nullable String rejectedKey) {}

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
        StoreWrite.DuplicateRequest duplicateRequest = new StoreWrite.DuplicateRequest(
                ambient.newId(),
                request.workspace(),
                request.run(),
                conflict,
                request.at(),
                request.statusCode(),
                request.actor(),
                request.changed(),
                1,
                request.rejectedKey());
        return new Row(duplicateRequest, request.key());
    }

    private void loop() {
        boolean last = false;
        while (!last) {
            wakeSignal.await(pauseNanos);
            last = wakeSignal.isStopped();
            try {
                flush();
            } catch (RuntimeException | ClockAndRandomSource.SimulatedCrash e) {
                if (ClockAndRandomSource.SimulatedCrash.causes(e)) {
                    return;
                }
                LOG.log(
                        Level.ERROR,
                        "the worker could not record some duplicate requests; they are missing from the history, and"
                                + " the runs are not affected: "
                                + e.getMessage());
            }
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
        List<StoreWrite.DuplicateRequest> duplicateRequests =
                rows.stream().map(Row::seen).toList();
        StoreWrite.RecordDuplicates tally = new StoreWrite.RecordDuplicates(duplicateRequests);
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
        wakeSignal.stop(thread, TimeUnit.SECONDS.toMillis(20));
    }
}
