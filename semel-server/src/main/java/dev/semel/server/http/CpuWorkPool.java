package dev.semel.server.http;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs CPU-bound work of requests on a few threads of its own. Request threads are virtual: long computations on them
 * would occupy the threads that carry all other requests. One caller has only a few places.
 */
public final class CpuWorkPool {
    private static final ScopedValue<CpuWorkPool> CURRENT = ScopedValue.newInstance();
    private static final long IDLE_SECONDS = 30;

    private final WorkLimits limits;
    private final ThreadPoolExecutor threads;
    private final Map<String, Integer> placesByCaller = new HashMap<>();

    /**
     * @param what the work in messages, e.g. "checks of workflow texts"
     * @param waiting how many wait for a thread at most
     * @param ofCaller how many of one caller run or wait at most
     * @param deadline from the request to the result
     */
    public record WorkLimits(String what, int threads, int waiting, int ofCaller, Duration deadline) {
        /** Uses at most half of the processors. */
        public static WorkLimits of(String what, int waiting, int ofCaller, Duration deadline) {
            int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
            return new WorkLimits(what, threads, waiting, ofCaller, deadline);
        }
    }

    public CpuWorkPool(WorkLimits limits) {
        this.limits = limits;
        this.threads = new ThreadPoolExecutor(
                limits.threads(),
                limits.threads(),
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(limits.waiting()),
                Thread.ofPlatform().daemon().name("cpu-work-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs the work and returns its result. Work that already runs in this pool is not queued again.
     *
     * @param caller token, user or address
     * @throws SemelException `overloaded` if the caller or the server has no free place, or after the deadline
     */
    public <T> T run(String caller, Callable<T> work) throws Exception {
        if (CURRENT.isBound() && CURRENT.get() == this) {
            return work.call();
        }
        if (!tryTakePlace(caller)) {
            throw overloaded("The caller has " + limits.ofCaller() + " " + limits.what() + " in progress.");
        }
        AtomicBoolean begun = new AtomicBoolean();
        FutureTask<T> task =
                new FutureTask<>(() -> ScopedValue.where(CURRENT, this).call(work::call));
        try {
            threads.execute(() -> {
                if (begun.compareAndSet(false, true)) {
                    try {
                        task.run();
                    } finally {
                        releasePlace(caller);
                    }
                }
            });
        } catch (RejectedExecutionException e) {
            releasePlace(caller);
            throw overloaded("The server has too many " + limits.what() + " in progress.");
        }
        try {
            return task.get(limits.deadline().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw thrown(e);
        } catch (TimeoutException e) {
            throw overloaded("The work took longer than " + limits.deadline().toSeconds() + " seconds.");
        } finally {
            task.cancel(true);
            // Work that has begun keeps its place until its end, so that a caller cannot pile up abandoned work.
            if (begun.compareAndSet(false, true)) {
                releasePlace(caller);
            }
        }
    }

    private static Exception thrown(ExecutionException e) {
        if (e.getCause() instanceof Error error) {
            throw error;
        }
        return e.getCause() instanceof Exception cause ? cause : e;
    }

    private synchronized boolean tryTakePlace(String caller) {
        int taken = placesByCaller.getOrDefault(caller, 0);
        if (taken < limits.ofCaller()) {
            placesByCaller.put(caller, taken + 1);
        }
        return taken < limits.ofCaller();
    }

    private synchronized void releasePlace(String caller) {
        placesByCaller.computeIfPresent(caller, (_, taken) -> taken == 1 ? null : taken - 1);
    }

    private static SemelException overloaded(String why) {
        return new SemelException(
                ErrorCode.OVERLOADED,
                why + " It did not finish this request. Nothing was changed.",
                "Send the same request again in a moment.");
    }
}
