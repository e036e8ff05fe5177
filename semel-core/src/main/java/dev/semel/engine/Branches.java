package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.StepPath;
import dev.semel.workflow.Durable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A forEach: so many branches at a time, each in a scope named by its item's key, so that order and number may change. */
final class Branches<I, R> {
    private final Scope parent;
    private final String name;
    private final Durable.Items<I> items;
    private final Durable.Branch<I, R> work;
    private final List<@Nullable R> results;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    Branches(Scope parent, String name, Durable.Items<I> items, Durable.Branch<I, R> work) {
        this.parent = parent;
        this.name = name;
        this.items = items;
        this.work = work;
        this.results = new ArrayList<>(Collections.nCopies(items.values().size(), null));
    }

    @SuppressWarnings("NullAway") // a branch may answer with null, if its type allows it
    List<R> run() {
        refuseEqualKeys();
        int threads = Math.min(Math.max(1, items.atOnce()), items.values().size());
        if (threads == 0) {
            return List.of();
        }
        Execution execution = parent.execution();
        execution.goOn();
        CountDownLatch ended = new CountDownLatch(threads);
        execution.waits().fork(threads);
        for (int i = 0; i < threads; i++) {
            execution.ambient().start("branch", () -> work(ended));
        }
        join(ended);
        Throwable failed = failure.get();
        if (failed instanceof Unwind unwind) {
            throw unwind;
        }
        if (failed instanceof Ambient.Death death) {
            throw death;
        }
        execution.waits().joined();
        if (failed instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failed != null) {
            throw new Attempt.CodeError(failed);
        }
        return Collections.unmodifiableList(results);
    }

    private void refuseEqualKeys() {
        if (items.keys().stream().distinct().count() < items.keys().size()) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "Two items of forEach \"" + name + "\" have the same key. No item was begun.",
                    "Give each item a key of its own: step ids hang on it.");
        }
    }

    private static void join(CountDownLatch ended) {
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Waits.Interrupted();
        }
    }

    /** One of the threads: takes the next item until there is none, one has failed, or the run is put away. */
    private void work(CountDownLatch ended) {
        Execution execution = parent.execution();
        boolean away = false;
        try {
            for (int i = next.getAndIncrement(); i < items.values().size(); i = next.getAndIncrement()) {
                if (failure.get() != null) {
                    return; // the failure is told when all that had begun has ended
                }
                one(i);
            }
        } catch (Unwind unwind) {
            // A branch that is put away has stopped working already; and nothing may hide that the run is over.
            away = unwind instanceof Unwind.Parked;
            failure.set(unwind);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        } finally {
            if (!away) {
                execution.waits().branchEnded();
            }
            ended.countDown();
        }
    }

    private void one(int i) throws Exception {
        String prefix = StepPath.branch(parent.prefix(), name, items.keys().get(i));
        Scope scope = new Scope(parent.execution(), prefix, parent.isUndo());
        try {
            results.set(i, work.run(new DurableScope(scope), items.values().get(i)));
        } finally {
            scope.close();
        }
    }
}
