package dev.semel.server.http;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TotalRequestBodyMemoryLimitTest {
    @Test
    void bodies_beyond_the_memory_limit_wait_until_memory_is_released() {
        TotalRequestBodyMemoryLimit bodyMemoryLimit = new TotalRequestBodyMemoryLimit(100);
        assertTrue(bodyMemoryLimit.tryReserve(60));
        assertFalse(bodyMemoryLimit.tryReserve(41));
        assertTrue(bodyMemoryLimit.tryReserve(40));
        bodyMemoryLimit.release(60);
        assertTrue(bodyMemoryLimit.tryReserve(60));
    }

    @Test
    void a_body_larger_than_the_limit_is_accepted_when_alone() {
        TotalRequestBodyMemoryLimit bodyMemoryLimit = new TotalRequestBodyMemoryLimit(100);
        assertTrue(bodyMemoryLimit.tryReserve(1_000));
        assertFalse(bodyMemoryLimit.tryReserve(1));
        bodyMemoryLimit.release(1_000);
        assertTrue(bodyMemoryLimit.tryReserve(1));
        assertFalse(bodyMemoryLimit.tryReserve(1_000));
    }
}
