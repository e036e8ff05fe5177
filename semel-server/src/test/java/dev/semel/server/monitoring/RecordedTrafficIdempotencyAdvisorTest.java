package dev.semel.server.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecordedTrafficIdempotencyAdvisorTest {
    private static final long HOUR = 3_600_000_000L;
    private static final long SECOND = 1_000_000;

    private static MetricUpdateCollector.MetricFact late(long hours) {
        return new MetricUpdateCollector.MetricFact(
                MetricCounter.EXPIRED, 1, hours * HOUR + 7, new RunId(1, hours), "", "wf", "", null, null, null, 7);
    }

    @Test
    void the_window_that_would_have_caught_all_late_retries_is_recommended() {
        RecordedTrafficIdempotencyAdvisor.WindowAdvice advice = RecordedTrafficIdempotencyAdvisor.adviseWindow(
                List.of(late(25), late(31), late(28)), Duration.ofHours(24));
        assertNotNull(advice);
        assertEquals(
                "3 retries came 25–31 h after the first request. The window of 24h had ended, so the retries started"
                        + " new runs. A window of 48h would have caught all 3.",
                advice.message());
        assertEquals(Duration.ofHours(48), advice.window());
        assertNull(RecordedTrafficIdempotencyAdvisor.adviseWindow(List.of(), Duration.ofHours(24)));
    }

    @Test
    void if_no_window_is_long_enough_the_advice_says_so() {
        RecordedTrafficIdempotencyAdvisor.WindowAdvice advice =
                RecordedTrafficIdempotencyAdvisor.adviseWindow(List.of(late(24 * 400)), Duration.ofHours(24));
        assertNotNull(advice);
        assertNull(advice.window());
        assertTrue(advice.message().contains("No window is long enough"), advice.message());
    }

    private static MetricQueries.AdmittedTrigger arrival(String actor, @Nullable String key, int data, long seconds) {
        return new MetricQueries.AdmittedTrigger(
                new RunId(seconds, 1), 1, actor, key, new byte[] {(byte) data}, seconds * SECOND, 0);
    }

    @Test
    void a_caller_that_changes_keys_for_the_same_data_is_reported() {
        List<MetricQueries.AdmittedTrigger> arrivals = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            arrivals.add(arrival("tok_shop", "k" + i, 7, 10L * i));
            arrivals.add(arrival("tok_good", "same", 7, 10L * i));
            arrivals.add(arrival("tok_busy", "b" + i, i, 10L * i));
            arrivals.add(arrival("tok_slow", "s" + i, 7, 3_600L * i));
            arrivals.add(arrival("tok_bare", null, 7, 10L * i));
        }
        List<RecordedTrafficIdempotencyAdvisor.CallerAdvice> callers =
                RecordedTrafficIdempotencyAdvisor.adviseCallers("pay", arrivals);
        assertEquals(1, callers.size(), callers::toString);
        assertEquals("tok_shop", callers.getFirst().actor());
        assertEquals(3, callers.getFirst().pairs());
        assertEquals(10, callers.getFirst().seconds());
    }

    private static IdempotencyWindowBacktest.RecordedRequest asked(String name, long at, @Nullable String data) {
        return new IdempotencyWindowBacktest.RecordedRequest(name, at, 1, 0, data);
    }

    @Test
    void a_window_starts_at_the_first_request_and_restarts_after_it() {
        List<IdempotencyWindowBacktest.RecordedRequest> traffic =
                List.of(asked("a", 0, null), asked("a", 10, null), asked("a", 25, null), asked("b", 3, null));
        assertEquals(new IdempotencyWindowBacktest.Outcome(4, 0), IdempotencyWindowBacktest.simulate(traffic, 1));
        assertEquals(
                new IdempotencyWindowBacktest.Outcome(4, 0),
                IdempotencyWindowBacktest.simulate(traffic, 10),
                "the edge belongs to the next");
        assertEquals(new IdempotencyWindowBacktest.Outcome(3, 1), IdempotencyWindowBacktest.simulate(traffic, 11));
        assertEquals(new IdempotencyWindowBacktest.Outcome(2, 2), IdempotencyWindowBacktest.simulate(traffic, 100));
    }

    @Test
    void a_key_is_held_until_its_run_ends_and_changed_data_are_sent() {
        List<IdempotencyWindowBacktest.RecordedRequest> held = List.of(
                new IdempotencyWindowBacktest.RecordedRequest("a", 0, 1, 50, null),
                new IdempotencyWindowBacktest.RecordedRequest("a", 40, 3, 0, null));
        assertEquals(new IdempotencyWindowBacktest.Outcome(1, 3), IdempotencyWindowBacktest.simulate(held, 1));
        List<IdempotencyWindowBacktest.RecordedRequest> changed =
                List.of(asked("a", 0, "x"), asked("a", 1, null), asked("a", 2, "y"));
        assertEquals(new IdempotencyWindowBacktest.Outcome(2, 1), IdempotencyWindowBacktest.simulate(changed, 100));
    }

    @Test
    void amounts_are_summed_by_currency_and_other_texts_are_ignored() {
        DuplicateSavingsByCurrency worth = new DuplicateSavingsByCurrency();
        worth.add("12.50 EUR", 2);
        worth.add("eur 1", 1);
        worth.add("USD 3.10", 1);
        worth.add("a lot", 9);
        worth.add(null, 9);
        assertEquals(Map.of("EUR", new BigDecimal("26.00"), "USD", new BigDecimal("3.10")), worth.sums());
    }

    @Test
    void a_period_is_reported_in_minutes_and_older_ones_in_hours() {
        long now = 1_000 * HOUR + 90 * SECOND;
        MetricPeriod fine = MetricPeriod.of(now - 600 * SECOND, now, now);
        assertEquals(now - 600 * SECOND - 30 * SECOND, fine.since());
        assertEquals(now + 30 * SECOND, fine.until());
        assertEquals(1, fine.grain());
        MetricPeriod day = MetricPeriod.of(now - 24 * HOUR, now, now);
        assertEquals(976 * HOUR, day.since());
        assertEquals(60, day.grain());
        assertEquals(1_440, MetricPeriod.of(now - 240 * HOUR, now, now).grain());
    }
}
