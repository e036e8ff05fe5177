package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Events, deliveries and ticks bring names of their own. */
@ParameterizedClass
@EnumSource
final class TriggerSourceKeyTest {
    private static final Duration WEEK = Duration.ofDays(7);

    private final EngineTestBench bench;

    TriggerSourceKeyTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
        bench.publish("plain", KeyPolicyBuilder.plain().window(Duration.ofMinutes(10)), EngineTestBench.ECHO);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private TriggerBuilder at(TriggerSource source) {
        return bench.ask("plain").through(source, "N", WEEK);
    }

    @Test
    void the_same_key_from_the_same_source_is_the_same_run_within_its_window() {
        TriggerResult first = at(TriggerSource.EVENT).send();
        bench.ended(first.run());
        bench.fixture.advance(WEEK.minusNanos(1_000));
        TriggerResult again = at(TriggerSource.EVENT).send();
        assertTrue(again.replayed());
        assertEquals(first.runId(), again.runId());
        assertEquals(first.expiresAt(), again.expiresAt());

        bench.fixture.advance(Duration.ofNanos(1_000));
        TriggerResult after = at(TriggerSource.EVENT).send();
        assertFalse(after.replayed());
        assertNotEquals(first.runId(), after.runId());
    }

    @Test
    void another_payload_under_the_key_is_a_flagged_repeat() {
        TriggerResult first = at(TriggerSource.WEBHOOK).input("{\"a\":1}").send();
        TriggerResult again = at(TriggerSource.WEBHOOK).input("{\"a\":2}").send();
        assertTrue(again.replayed());
        assertTrue(again.payloadMismatch());
        assertEquals(first.runId(), again.runId());
    }

    @Test
    void trigger_sources_and_callers_share_no_keys() {
        TriggerResult key = bench.ask("plain").key("N").send();
        TriggerResult event = at(TriggerSource.EVENT).send();
        TriggerResult result = at(TriggerSource.WEBHOOK).send();
        TriggerResult tick = at(TriggerSource.SCHEDULE).send();
        for (TriggerResult each : new TriggerResult[] {key, event, result, tick}) {
            assertFalse(each.replayed());
        }
    }

    @Test
    void the_run_shows_its_trigger_source_and_key() {
        TriggerResult tick = at(TriggerSource.SCHEDULE).send();
        DatabaseRows.RunRow run = bench.run(tick.run());
        assertNotNull(run);
        assertEquals(TriggerSource.SCHEDULE, run.origin().triggerSource());
        assertEquals("shown N", run.origin().key());
    }
}
