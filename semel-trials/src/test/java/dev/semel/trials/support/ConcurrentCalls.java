package dev.semel.trials.support;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/** Many at once, and waiting for something to become true. */
public final class ConcurrentCalls {
    /** Only a broken server makes anyone wait this long. */
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private ConcurrentCalls() {}

    /** Everyone is ready before the first one goes. */
    public static <T> List<T> atOnce(int size, IntFunction<T> action) {
        CountDownLatch ready = new CountDownLatch(size);
        List<Callable<T>> actions = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int number = i;
            actions.add(() -> {
                ready.countDown();
                ready.await();
                return action.apply(number);
            });
        }
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<T> results = new ArrayList<>();
            for (Future<T> result : threads.invokeAll(actions)) {
                results.add(result.get());
            }
            return results;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("one of the crowd failed", e.getCause());
        }
    }

    /** Asks until the answer is yes. The question is a request to the server, which paces the loop. */
    public static void until(String what, BooleanSupplier question) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!question.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("did not come true in time: " + what);
            }
        }
    }
}
