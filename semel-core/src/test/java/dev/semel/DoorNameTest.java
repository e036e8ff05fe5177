package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Dialect;
import dev.semel.store.Rows;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Events, deliveries and ticks bring names of their own. */
@ParameterizedClass
@EnumSource
final class DoorNameTest {
    private static final Duration WEEK = Duration.ofDays(7);

    private final Bench bench;

    DoorNameTest(Dialect dialect) {
        bench = new Bench(dialect);
        bench.publish("plain", Policy.plain().window(Duration.ofMinutes(10)), Bench.ECHO);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private Asking at(Door door) {
        return bench.ask("plain").through(door, "N", WEEK);
    }

    @Test
    void the_same_name_at_the_same_door_is_the_same_run_for_the_time_of_the_door() {
        Answer first = at(Door.EVENT).send();
        bench.ended(first.run());
        bench.place.advance(WEEK.minusNanos(1_000));
        Answer again = at(Door.EVENT).send();
        assertTrue(again.replayed());
        assertEquals(first.runId(), again.runId());
        assertEquals(first.expiresAt(), again.expiresAt());

        bench.place.advance(Duration.ofNanos(1_000));
        Answer after = at(Door.EVENT).send();
        assertFalse(after.replayed());
        assertNotEquals(first.runId(), after.runId());
    }

    @Test
    void another_payload_under_the_name_is_a_repeat_that_says_so() {
        Answer first = at(Door.HOOK).input("{\"a\":1}").send();
        Answer again = at(Door.HOOK).input("{\"a\":2}").send();
        assertTrue(again.replayed());
        assertTrue(again.mismatch());
        assertEquals(first.runId(), again.runId());
    }

    @Test
    void doors_and_callers_share_no_names() {
        Answer key = bench.ask("plain").key("N").send();
        Answer event = at(Door.EVENT).send();
        Answer hook = at(Door.HOOK).send();
        Answer tick = at(Door.SCHEDULE).send();
        for (Answer each : new Answer[] {key, event, hook, tick}) {
            assertFalse(each.replayed());
        }
    }

    @Test
    void the_run_shows_its_door_and_the_name() {
        Answer tick = at(Door.SCHEDULE).send();
        Rows.Run run = bench.run(tick.run());
        assertNotNull(run);
        assertEquals(Door.SCHEDULE, run.origin().door());
        assertEquals("shown N", run.origin().key());
    }
}
