package dev.semel.engine.commit;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkflowStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A few threads with one connection each; callers park. One statement answers all waiting key lookups. No cache. */
public final class StoreQueryThreadPool implements AutoCloseable {
    private static final int THREADS = 2;
    private static final int LOOKUPS_AT_ONCE = 256;
    private static final int WAITING_AT_MOST = 20_000;

    private final WorkflowStore store;
    private final LinkedBlockingQueue<Query<?>> queries = new LinkedBlockingQueue<>(WAITING_AT_MOST);
    private final LinkedBlockingQueue<Lookup> lookups = new LinkedBlockingQueue<>(WAITING_AT_MOST);
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closing;

    public StoreQueryThreadPool(WorkflowStore store) {
        this.store = store;
        threads.add(Thread.ofPlatform().name("semel-names").daemon(true).start(() -> loop(this::lookUp)));
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().name("semel-read-" + i).daemon(true).start(() -> loop(this::answer)));
        }
    }

    public List<Thread> threads() {
        return List.copyOf(threads);
    }

    private record Query<T>(Function<StoreQueries, @Nullable T> ask, CompletableFuture<@Nullable T> answer) {
        void answer(StoreQueries reads) {
            answer.complete(ask.apply(reads));
        }
    }

    private record Lookup(List<RunDeduplicationKey> names, CompletableFuture<StoreQueries.KeyLookup> answer) {}

    /** Runs a query that always has a result, and waits for it. */
    public <T> T read(Function<StoreQueries, T> query) {
        T answer = readNullable(query::apply);
        if (answer == null) {
            throw new IllegalStateException("a store query returned null, although it must return a value");
        }
        return answer;
    }

    public <T> @Nullable T readNullable(Function<StoreQueries, @Nullable T> query) {
        Query<T> queued = new Query<>(query, new CompletableFuture<>());
        if (closing || !queries.offer(queued)) {
            throw busy();
        }
        return join(queued.answer());
    }

    /** Looks up key records, batched with the lookups of other callers. */
    public StoreQueries.KeyLookup lookUpKeys(List<RunDeduplicationKey> names) {
        Lookup lookup = new Lookup(names, new CompletableFuture<>());
        if (closing || !lookups.offer(lookup)) {
            throw busy();
        }
        StoreQueries.KeyLookup found = join(lookup.answer());
        if (found == null) {
            throw new IllegalStateException("a key lookup returned no result");
        }
        return found;
    }

    private static StoreFailure busy() {
        return new StoreFailure.Unreachable("too many queries wait for the store", new IllegalStateException("busy"));
    }

    private static <T> @Nullable T join(CompletableFuture<@Nullable T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** Uses one connection as long as it works. A failed one is replaced for the next query. */
    private void loop(Turn turn) {
        StoreQueries reads = null;
        while (!closing) {
            try {
                reads = turn.take(reads);
            } catch (InterruptedException e) {
                break;
            }
        }
        if (reads != null) {
            reads.close();
        }
    }

    @FunctionalInterface
    private interface Turn {
        @Nullable
        StoreQueries take(@Nullable StoreQueries reads) throws InterruptedException;
    }

    private @Nullable StoreQueries answer(@Nullable StoreQueries reads) throws InterruptedException {
        Query<?> query = queries.poll(100, TimeUnit.MILLISECONDS);
        if (query == null) {
            return reads;
        }
        return runWithReconnect(reads, query::answer, e -> query.answer().completeExceptionally(e));
    }

    private @Nullable StoreQueries lookUp(@Nullable StoreQueries reads) throws InterruptedException {
        Lookup first = lookups.poll(100, TimeUnit.MILLISECONDS);
        if (first == null) {
            return reads;
        }
        List<Lookup> batch = new ArrayList<>();
        batch.add(first);
        lookups.drainTo(batch, LOOKUPS_AT_ONCE - 1);
        List<RunDeduplicationKey> names = new ArrayList<>(batch.size());
        batch.forEach(lookup -> names.addAll(lookup.names()));
        return runWithReconnect(
                reads,
                open -> answerAll(batch, open.findKeys(names)),
                e -> batch.forEach(lookup -> lookup.answer().completeExceptionally(e)));
    }

    private static void answerAll(List<Lookup> batch, StoreQueries.KeyLookup found) {
        int from = 0;
        for (Lookup lookup : batch) {
            int to = from + lookup.names().size();
            List<@Nullable RunDeduplicationKeyRecord> part = found.keyRecords().subList(from, to);
            lookup.answer().complete(new StoreQueries.KeyLookup(found.now(), part));
            from = to;
        }
    }

    /** Runs the query, and again on a new connection if the old one is dead. Returns the connection to use next. */
    private @Nullable StoreQueries runWithReconnect(
            @Nullable StoreQueries reads, Consumer<StoreQueries> ask, Consumer<Throwable> fail) {
        StoreQueries open = reads;
        try {
            open = open == null ? store.openQueries() : open;
            ask.accept(open);
            return open;
        } catch (RuntimeException | Error e) {
            // Errors too: if a reader thread died of a result too large for the heap, all callers would hang.
            open = drop(open, e);
            if (reads != null && open == null && e instanceof StoreFailure) {
                return runWithReconnect(null, ask, fail);
            }
            fail.accept(e);
            return open;
        }
    }

    private static @Nullable StoreQueries drop(@Nullable StoreQueries reads, Throwable cause) {
        if (reads == null || !(cause instanceof StoreFailure || cause instanceof Error)) {
            return reads;
        }
        try {
            reads.close();
        } catch (StoreFailure e) {
            cause.addSuppressed(e);
        }
        return null;
    }

    @Override
    public void close() {
        closing = true;
        for (Thread thread : threads) {
            try {
                thread.join(5_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        queries.forEach(query -> query.answer().completeExceptionally(busy()));
        lookups.forEach(lookup -> lookup.answer().completeExceptionally(busy()));
    }
}
