package dev.semel.server.http.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TotalRequestBodyMemoryLimitTest {
    private static TotalRequestBodyMemoryLimit limit(long size, long perCaller) {
        return new TotalRequestBodyMemoryLimit(size, perCaller, ParsedBodyMemoryLimit.ofHeap(4));
    }

    @Test
    void bodies_beyond_the_memory_limit_wait_until_memory_is_released() {
        TotalRequestBodyMemoryLimit limit = limit(100, 100);
        TotalRequestBodyMemoryLimit.BodyMemory first = limit.open("a");
        assertTrue(first.growTo(60));
        assertFalse(limit.open("b").growTo(41));
        assertTrue(limit.open("b").growTo(40));
        first.close();
        assertTrue(limit.open("a").growTo(60));
    }

    @Test
    void a_body_larger_than_the_limit_is_accepted_when_alone() {
        TotalRequestBodyMemoryLimit limit = limit(100, 50);
        TotalRequestBodyMemoryLimit.BodyMemory large = limit.open("a");
        assertTrue(large.growTo(1_000));
        TotalRequestBodyMemoryLimit.BodyMemory small = limit.open("a");
        assertFalse(small.growTo(1));
        large.close();
        assertTrue(small.growTo(1));
        assertFalse(limit.open("a").growTo(1_000));
    }

    @Test
    void a_body_grows_with_the_bytes_that_arrive() {
        TotalRequestBodyMemoryLimit limit = limit(100, 100);
        TotalRequestBodyMemoryLimit.BodyMemory announced = limit.open("a");
        TotalRequestBodyMemoryLimit.BodyMemory sent = limit.open("b");
        assertTrue(announced.growTo(0));
        assertTrue(sent.growTo(40));
        assertTrue(sent.growTo(80));
        assertTrue(announced.growTo(20));
        assertFalse(announced.growTo(21));
        assertTrue(announced.growTo(20));
        sent.close();
        sent.close();
        assertTrue(announced.growTo(100));
    }

    @Test
    void a_caller_is_forgotten_with_its_last_body() {
        TotalRequestBodyMemoryLimit limit = limit(100, 100);
        try (TotalRequestBodyMemoryLimit.BodyMemory empty = limit.open("a");
                TotalRequestBodyMemoryLimit.BodyMemory body = limit.open("b")) {
            assertTrue(empty.growTo(0));
            assertTrue(body.growTo(10));
            assertEquals(1, limit.callers());
        }
        assertEquals(0, limit.callers());
    }

    @Test
    void one_caller_has_only_its_share() {
        TotalRequestBodyMemoryLimit limit = limit(100, 50);
        TotalRequestBodyMemoryLimit.BodyMemory first = limit.open("a");
        assertTrue(first.growTo(30));
        assertFalse(limit.open("a").growTo(21));
        assertTrue(limit.open("a").growTo(20));
        assertTrue(limit.open("b").growTo(50));
        assertFalse(limit.open("c").growTo(1));
        first.close();
        assertTrue(limit.open("c").growTo(30));
    }
}
