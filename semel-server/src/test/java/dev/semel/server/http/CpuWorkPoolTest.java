package dev.semel.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CpuWorkPoolTest {
    private static final Duration LONG = Duration.ofMinutes(10);

    private final CountDownLatch release = new CountDownLatch(1);
    private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    private final BlockingQueue<Object> ended = new LinkedBlockingQueue<>();

    @AfterEach
    void finish() {
        release.countDown();
    }

    private static CpuWorkPool pool(int waiting, int ofCaller, Duration deadline) {
        return new CpuWorkPool(new CpuWorkPool.WorkLimits("checks", 1, waiting, ofCaller, deadline));
    }

    /** Starts work that ends with {@link #release}. */
    private void occupy(CpuWorkPool pool, String caller) {
        Thread.ofVirtual().start(() -> {
            try {
                ended.add(pool.run(caller, () -> {
                    begun.add(caller);
                    release.await();
                    return caller;
                }));
            } catch (Exception e) {
                ended.add(e);
            }
        });
    }

    private static SemelException rejected(CpuWorkPool pool, String caller) {
        SemelException e = assertThrows(SemelException.class, () -> pool.run(caller, () -> "done"));
        assertEquals(ErrorCode.OVERLOADED, e.code());
        return e;
    }

    @Test
    void work_runs_on_a_platform_thread_and_returns_its_result_or_its_exception() throws Exception {
        CpuWorkPool pool = pool(1, 1, LONG);
        BlockingQueue<Boolean> virtual = new LinkedBlockingQueue<>();
        Thread.ofVirtual().start(() -> {
            try {
                virtual.add(pool.run("a", () -> Thread.currentThread().isVirtual()));
            } catch (Exception e) {
                virtual.add(true);
            }
        });
        assertFalse(virtual.take());
        IOException broken = new IOException("broken");
        assertSame(
                broken,
                assertThrows(
                        IOException.class,
                        () -> pool.run("a", () -> {
                            throw broken;
                        })));
        StackOverflowError deep = new StackOverflowError();
        assertSame(
                deep,
                assertThrows(
                        StackOverflowError.class,
                        () -> pool.run("a", () -> {
                            throw deep;
                        })));
        assertEquals("done", pool.run("a", () -> "done"));
    }

    @Test
    void one_caller_has_a_limit_and_others_continue() throws Exception {
        CpuWorkPool pool = pool(10, 1, LONG);
        occupy(pool, "greedy");
        assertEquals("greedy", begun.take());
        assertTrue(rejected(pool, "greedy").detail().contains("The caller has 1 checks in progress"));
        occupy(pool, "other");
        release.countDown();
        assertEquals("greedy", ended.take());
        assertEquals("other", ended.take());
        assertEquals("done", pool.run("greedy", () -> "done"));
    }

    @Test
    void a_full_queue_rejects_further_work() throws Exception {
        CpuWorkPool pool = pool(1, 10, LONG);
        occupy(pool, "a");
        begun.take();
        occupy(pool, "b");
        occupy(pool, "c"); // of b and c one waits, and the server rejects the other
        assertTrue(ended.take() instanceof SemelException e && e.code() == ErrorCode.OVERLOADED);
        release.countDown();
        assertTrue(ended.take() instanceof String);
        assertTrue(ended.take() instanceof String);
    }

    @Test
    void work_over_the_deadline_keeps_its_place_until_it_ends() throws Exception {
        CpuWorkPool pool = pool(10, 1, Duration.ofMillis(1));
        CountDownLatch over = new CountDownLatch(1);
        while (begun.isEmpty()) { // the deadline may also pass before a thread is free
            SemelException late = assertThrows(
                    SemelException.class,
                    () -> pool.run("slow", () -> {
                        begun.add("slow");
                        while (release.getCount() > 0) {
                            Thread.onSpinWait(); // does not react to the interrupt
                        }
                        over.countDown();
                        return "never seen";
                    }));
            assertEquals(ErrorCode.OVERLOADED, late.code());
        }
        rejected(pool, "slow");
        rejected(pool, "waits"); // its deadline passes before a thread is free
        release.countDown();
        over.await();
        CpuWorkPool fresh = pool(1, 1, LONG);
        assertEquals("done", fresh.run("slow", () -> "done"));
    }

    @Test
    void work_inside_work_runs_at_once() throws Exception {
        CpuWorkPool pool = pool(1, 1, LONG);
        assertEquals("inner", pool.run("a", () -> pool.run("a", () -> "inner")));
    }
}
