package dev.semel.server.access.oidc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SharedFetchTest {
    private final AtomicLong clock = new AtomicLong(1_000);
    private final AtomicInteger fetches = new AtomicInteger();
    private volatile boolean broken;
    private final SharedFetch<Integer> shared = new SharedFetch<>(
            () -> {
                int number = fetches.incrementAndGet();
                if (broken) {
                    throw OidcProviderClient.unavailable("cannot be reached");
                }
                return number;
            },
            clock::get);

    @Test
    void a_value_is_fetched_again_only_when_it_is_too_old() {
        assertEquals(1, shared.fetchedSince(clock.get()));
        assertEquals(1, shared.fetchedSince(clock.get() - 10));
        assertEquals(1, shared.fetchedSince(clock.get()));
        clock.addAndGet(1);
        assertEquals(1, shared.fetchedSince(clock.get() - 1));
        assertEquals(2, shared.fetchedSince(clock.get()));
    }

    @Test
    void a_failure_is_shared_for_a_moment_and_then_fetched_again() {
        broken = true;
        for (int i = 0; i < 3; i++) {
            SemelException e = assertThrows(SemelException.class, () -> shared.fetchedSince(clock.get()));
            assertEquals(ErrorCode.IDENTITY_PROVIDER_UNUSABLE, e.code());
        }
        assertEquals(1, fetches.get());
        broken = false;
        clock.addAndGet(SharedFetch.FAILURE_KEPT);
        assertEquals(2, shared.fetchedSince(clock.get()));
    }

    @Test
    void a_value_that_is_young_enough_is_used_after_a_failure() {
        assertEquals(1, shared.fetchedSince(clock.get()));
        clock.addAndGet(10);
        broken = true;
        assertThrows(SemelException.class, () -> shared.fetchedSince(clock.get()));
        assertEquals(1, shared.fetchedSince(clock.get() - 10));
    }

    @Test
    void few_callers_wait_for_one_fetch_and_the_others_are_rejected() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        AtomicInteger slowFetches = new AtomicInteger();
        SharedFetch<String> slow = new SharedFetch<>(
                () -> {
                    slowFetches.incrementAndGet();
                    started.countDown();
                    try {
                        answer.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return "value";
                },
                clock::get);
        BlockingQueue<Object> results = new LinkedBlockingQueue<>();
        int callers = SharedFetch.MOST_WAITING + 5;
        for (int i = 0; i < callers; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    results.add(slow.fetchedSince(clock.get()));
                } catch (SemelException e) {
                    results.add(e);
                }
            });
        }
        started.await();
        for (int i = 0; i < 5; i++) {
            assertTrue(results.take() instanceof SemelException);
        }
        answer.countDown();
        for (int i = 5; i < callers; i++) {
            assertEquals("value", results.take());
        }
        assertEquals(1, slowFetches.get());
    }
}
