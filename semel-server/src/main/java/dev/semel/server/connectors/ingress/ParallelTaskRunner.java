package dev.semel.server.connectors.ingress;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Runs tasks in parallel on virtual threads and waits for all, so that they share a disk commit. */
public final class ParallelTaskRunner {
    private ParallelTaskRunner() {}

    /** Runs the action for each item and returns when all are done; a single item runs on the caller's thread. */
    public static <T> void runAll(List<T> things, Consumer<T> action) {
        if (things.size() <= 1) {
            things.forEach(action);
            return;
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>(things.size());
            things.forEach(thing -> all.add(threads.submit(() -> action.accept(thing))));
            for (Future<?> one : all) {
                one.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while parallel tasks were running", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException("a parallel task failed with an unexpected exception", e);
        }
    }
}
