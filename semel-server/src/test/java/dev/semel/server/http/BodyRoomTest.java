package dev.semel.server.http;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BodyRoomTest {
    @Test
    void bodies_beyond_the_room_wait_outside_and_what_is_given_back_is_free() {
        BodyRoom room = new BodyRoom(100);
        assertTrue(room.take(60));
        assertFalse(room.take(41));
        assertTrue(room.take(40));
        room.give(60);
        assertTrue(room.take(60));
    }

    @Test
    void a_body_larger_than_the_room_gets_in_when_nobody_else_is_there() {
        BodyRoom room = new BodyRoom(100);
        assertTrue(room.take(1_000));
        assertFalse(room.take(1));
        room.give(1_000);
        assertTrue(room.take(1));
        assertFalse(room.take(1_000));
    }
}
