package dev.semel.server.operations;

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
                limit.whileParsed(BODY, () -> {
                    most.accumulateAndGet(parsed.incrementAndGet(), Math::max);
                    three.countDown();
                    await(three);
                    return parsed.decrementAndGet();
                });
                done.countDown();
            });
        }
        done.await();
        assertEquals(3, most.get());
    }

    @Test
    void a_request_that_waited_too_long_is_told_to_retry_and_small_ones_do_not_wait() {
        ParsedBodyMemoryLimit limit = new ParsedBodyMemoryLimit(21L * BODY, Duration.ZERO);
        limit.whileParsed(BODY, () -> {
            SemelException rejected = assertThrows(SemelException.class, () -> limit.whileParsed(BODY, () -> "never"));
            assertEquals(ErrorCode.OVERLOADED, rejected.code());
            assertTrue(rejected.code().retryable());
            return assertEqual("small", limit.whileParsed(100, () -> "small"));
        });
        assertEquals("later", limit.whileParsed(BODY, () -> "later"));
        assertEquals("alone", limit.whileParsed(100 * BODY, () -> "alone"));
    }

    private static String assertEqual(String expected, String actual) {
        assertEquals(expected, actual);
        return actual;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
