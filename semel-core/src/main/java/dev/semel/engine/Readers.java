package dev.semel.engine;

import dev.semel.key.Known;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reading, on a few platform threads with a connection each; callers park. Look-ups of names are gathered like writes:
 * one statement answers all that wait. Every answer comes from the store; nothing is remembered here.
 */
public final class Readers implements AutoCloseable {
    private static final int THREADS = 2;
    private static final int LOOKUPS_AT_ONCE = 256;
    private static final int WAITING_AT_MOST = 20_000;

    private final Store store;
    private final LinkedBlockingQueue<Question<?>> questions = new LinkedBlockingQueue<>(WAITING_AT_MOST);
    private final LinkedBlockingQueue<Lookup> lookups = new LinkedBlockingQueue<>(WAITING_AT_MOST);
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closing;

    public Readers(Store store) {
        this.store = store;
        threads.add(Thread.ofPlatform().name("semel-names").daemon(true).start(() -> loop(this::lookUp)));
        for (int i = 0; i < THREADS; i++) {
            threads.add(Thread.ofPlatform().name("semel-read-" + i).daemon(true).start(() -> loop(this::answer)));
        }
    }

    private record Question<T>(Function<Reads, @Nullable T> ask, CompletableFuture<@Nullable T> answer) {
        void answer(Reads reads) {
            answer.complete(ask.apply(reads));
        }
    }

    private record Lookup(List<Name> names, CompletableFuture<Reads.Found> answer) {}

    /** Asks and waits. */
    public <T> T ask(Function<Reads, T> question) {
        T answer = maybe(question::apply);
        if (answer == null) {
            throw new IllegalStateException("a question that always has an answer got none");
        }
        return answer;
    }

    public <T> @Nullable T maybe(Function<Reads, @Nullable T> question) {
        Question<T> asked = new Question<>(question, new CompletableFuture<>());
        if (closing || !questions.offer(asked)) {
            throw busy();
        }
        return join(asked.answer());
    }

    /** Who holds these names now; gathered with the look-ups of other callers. */
    public Reads.Found names(List<Name> names) {
        Lookup lookup = new Lookup(names, new CompletableFuture<>());
        if (closing || !lookups.offer(lookup)) {
            throw busy();
        }
        Reads.Found found = join(lookup.answer());
        if (found == null) {
            throw new IllegalStateException("a look-up got no answer");
        }
        return found;
    }

    private static StoreFailure busy() {
        return new StoreFailure.Down("too many readers wait for the store", new IllegalStateException("busy"));
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

    /** Keeps one connection as long as it works; a failed one is replaced for the next question. */
    private void loop(Turn turn) {
        Reads reads = null;
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
        Reads take(@Nullable Reads reads) throws InterruptedException;
    }

    private @Nullable Reads answer(@Nullable Reads reads) throws InterruptedException {
        Question<?> question = questions.poll(100, TimeUnit.MILLISECONDS);
        if (question == null) {
            return reads;
        }
        return twice(reads, question::answer, e -> question.answer().completeExceptionally(e));
    }

    private @Nullable Reads lookUp(@Nullable Reads reads) throws InterruptedException {
        Lookup first = lookups.poll(100, TimeUnit.MILLISECONDS);
        if (first == null) {
            return reads;
        }
        List<Lookup> batch = new ArrayList<>();
        batch.add(first);
        lookups.drainTo(batch, LOOKUPS_AT_ONCE - 1);
        List<Name> names = new ArrayList<>(batch.size());
        batch.forEach(lookup -> names.addAll(lookup.names()));
        return twice(
                reads,
                open -> answerAll(batch, open.names(names)),
                e -> batch.forEach(lookup -> lookup.answer().completeExceptionally(e)));
    }

    private static void answerAll(List<Lookup> batch, Reads.Found found) {
        int from = 0;
        for (Lookup lookup : batch) {
            int to = from + lookup.names().size();
            List<@Nullable Known> part = found.known().subList(from, to);
            lookup.answer().complete(new Reads.Found(found.now(), part));
            from = to;
        }
    }

    /** Asks, and once more on a new connection where an old one turns out to be dead. The connection to go on with. */
    private @Nullable Reads twice(@Nullable Reads reads, Consumer<Reads> ask, Consumer<Throwable> fail) {
        Reads open = reads;
        try {
            open = open == null ? store.openReads() : open;
            ask.accept(open);
            return open;
        } catch (RuntimeException | Error e) {
            // Errors too: a reader that dies of an answer too large for the heap would leave everybody waiting.
            open = drop(open, e);
            if (reads != null && open == null && e instanceof StoreFailure) {
                return twice(null, ask, fail);
            }
            fail.accept(e);
            return open;
        }
    }

    private static @Nullable Reads drop(@Nullable Reads reads, Throwable cause) {
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
        questions.forEach(question -> question.answer().completeExceptionally(busy()));
        lookups.forEach(lookup -> lookup.answer().completeExceptionally(busy()));
    }
}
