package dev.semel.server.http;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BodyMemoryLimitTest {
    @Test
    void bodies_beyond_the_memory_limit_wait_until_memory_is_released() {
        BodyMemoryLimit room = new BodyMemoryLimit(100);
        assertTrue(room.tryReserve(60));
        assertFalse(room.tryReserve(41));
        assertTrue(room.tryReserve(40));
        room.release(60);
        assertTrue(room.tryReserve(60));
    }

    @Test
    void a_body_larger_than_the_limit_is_accepted_when_alone() {
        BodyMemoryLimit room = new BodyMemoryLimit(100);
        assertTrue(room.tryReserve(1_000));
        assertFalse(room.tryReserve(1));
        room.release(1_000);
        assertTrue(room.tryReserve(1));
        assertFalse(room.tryReserve(1_000));
    }
}
