package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ParsedBodyMemoryLimitTest {
    private static final int BODY = 1 << 20;

    @Test
    void large_bodies_are_parsed_a_few_at_a_time() throws InterruptedException {
        ParsedBodyMemoryLimit limit = new ParsedBodyMemoryLimit(3L * 21 * BODY, Duration.ofMinutes(1));
        AtomicInteger parsed = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        int requests = 25;
        CountDownLatch done = new CountDownLatch(requests);
        CountDownLatch three = new CountDownLatch(3);
        for (int i = 0; i < requests; i++) {
            Thread.ofVirtual().start(() -> {
                int acquired = limit.acquire(BODY);
                most.accumulateAndGet(parsed.incrementAndGet(), Math::max);
                three.countDown();
                await(three);
                parsed.decrementAndGet();
                limit.release(acquired);
                done.countDown();
            });
        }
        done.await();
        assertEquals(3, most.get());
    }

    @Test
    void a_request_that_waited_too_long_is_told_to_retry_and_small_ones_do_not_wait() {
        ParsedBodyMemoryLimit limit = new ParsedBodyMemoryLimit(21L * BODY, Duration.ZERO);
        int first = limit.acquire(BODY);
        SemelException rejected = assertThrows(SemelException.class, () -> limit.acquire(BODY));
        assertEquals(ErrorCode.OVERLOADED, rejected.code());
        assertTrue(rejected.code().retryable());
        limit.release(limit.acquire(100));
        limit.release(first);
        limit.release(limit.acquire(BODY));
        limit.release(limit.acquire(100 * BODY));
        limit.release(limit.acquire(BODY));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
