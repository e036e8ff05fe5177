package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Dialect;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.TriggerSource;
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

    private Asking at(TriggerSource door) {
        return bench.ask("plain").through(door, "N", WEEK);
    }

    @Test
    void the_same_name_at_the_same_door_is_the_same_run_for_the_time_of_the_door() {
        TriggerResult first = at(TriggerSource.EVENT).send();
        bench.ended(first.run());
        bench.place.advance(WEEK.minusNanos(1_000));
        TriggerResult again = at(TriggerSource.EVENT).send();
        assertTrue(again.replayed());
        assertEquals(first.runId(), again.runId());
        assertEquals(first.expiresAt(), again.expiresAt());

        bench.place.advance(Duration.ofNanos(1_000));
        TriggerResult after = at(TriggerSource.EVENT).send();
        assertFalse(after.replayed());
        assertNotEquals(first.runId(), after.runId());
    }

    @Test
    void another_payload_under_the_name_is_a_repeat_that_says_so() {
        TriggerResult first = at(TriggerSource.HOOK).input("{\"a\":1}").send();
        TriggerResult again = at(TriggerSource.HOOK).input("{\"a\":2}").send();
        assertTrue(again.replayed());
        assertTrue(again.payloadMismatch());
        assertEquals(first.runId(), again.runId());
    }

    @Test
    void doors_and_callers_share_no_names() {
        TriggerResult key = bench.ask("plain").key("N").send();
        TriggerResult event = at(TriggerSource.EVENT).send();
        TriggerResult hook = at(TriggerSource.HOOK).send();
        TriggerResult tick = at(TriggerSource.SCHEDULE).send();
        for (TriggerResult each : new TriggerResult[] {key, event, hook, tick}) {
            assertFalse(each.replayed());
        }
    }

    @Test
    void the_run_shows_its_door_and_the_name() {
        TriggerResult tick = at(TriggerSource.SCHEDULE).send();
        StoredRows.RunRow run = bench.run(tick.run());
        assertNotNull(run);
        assertEquals(TriggerSource.SCHEDULE, run.origin().triggerSource());
        assertEquals("shown N", run.origin().key());
    }
}
