package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWrite;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What is remembered of requests that met a known key. */
@ParameterizedClass
@EnumSource
final class DuplicateRequestsTest {
    private final EngineTestBench bench;

    DuplicateRequestsTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
        bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        bench.publish("pay", KeyPolicyBuilder.plain().fingerprint("amount"), EngineTestBench.ECHO);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private DatabaseRows.DuplicateCounts counted(TriggerResult answer, long replays) {
        Await.until(
                replays + " replays are counted",
                () -> bench.run(answer.run()).counts().replays() >= replays);
        return bench.run(answer.run()).counts();
    }

    @Test
    void a_duplicate_is_stored_as_a_request_of_its_run() {
        TriggerResult first = bench.ask("plain").key("K").input("{\"a\":1}").send();
        bench.fixture.advance(Duration.ofSeconds(3));
        bench.ask("plain").key("K").input("{\"a\":2}").actor("somebody").send();
        assertEquals(new DatabaseRows.DuplicateCounts(1, 0, bench.fixture.time()), counted(first, 1));
        StoreWrite.DuplicateRequest row = bench.requests(first.run()).getFirst();
        assertEquals(first.run(), row.run());
        assertEquals(bench.workspace(), row.workspace());
        assertEquals("somebody", row.actor());
        assertEquals(200, row.statusCode());
        assertEquals("a", row.changed());
        assertEquals(bench.fixture.time(), row.at());
        assertEquals(1, row.times());
    }

    @Test
    void a_conflict_is_recorded_before_it_is_returned() {
        TriggerResult first = bench.ask("pay").key("K").input("{\"amount\":1}").send();
        bench.ask("pay").key("K").input("{\"amount\":2}").actor("mallory").refused();
        assertEquals(1, bench.run(first.run()).counts().conflicts());
        StoreWrite.DuplicateRequest row = bench.requests(first.run()).getFirst();
        assertTrue(row.conflict());
        assertEquals(422, row.statusCode());
        assertEquals("mallory", row.actor());
        assertEquals("amount", row.changed());
        assertEquals(0, bench.run(first.run()).counts().replays());
    }

    @Test
    void the_first_request_is_the_run_itself_and_has_no_request_row() {
        TriggerResult first = bench.ask("plain").key("K").send();
        bench.ended(first.run());
        assertEquals(List.of(), bench.requests(first.run()));
        assertEquals(DatabaseRows.DuplicateCounts.NONE, bench.run(first.run()).counts());
    }

    @Test
    void five_thousand_duplicates_by_three_actors_are_counted_exactly() throws Exception {
        TriggerResult first = bench.ask("plain").key("hot").send();
        List<FutureTask<Void>> callers = new ArrayList<>();
        int[] shares = {2_500, 1_500, 1_000};
        for (int actor = 0; actor < shares.length; actor++) {
            String name = "actor " + actor;
            int share = shares[actor];
            callers.add(new FutureTask<>(() -> {
                for (int i = 0; i < share; i++) {
                    bench.ask("plain").key("hot").actor(name).send();
                }
                return null;
            }));
        }
        callers.forEach(caller -> Thread.ofVirtual().start(caller));
        for (FutureTask<Void> caller : callers) {
            assertNull(caller.get());
        }
        assertEquals(5_000, counted(first, 5_000).replays());
        List<StoreWrite.DuplicateRequest> rows = bench.requests(first.run());
        assertEquals(
                5_000,
                rows.stream().mapToLong(StoreWrite.DuplicateRequest::times).sum());
        for (int actor = 0; actor < shares.length; actor++) {
            String name = "actor " + actor;
            assertEquals(
                    shares[actor],
                    rows.stream()
                            .filter(row -> row.actor().equals(name))
                            .mapToLong(StoreWrite.DuplicateRequest::times)
                            .sum());
        }
        assertEquals(1, bench.runs());
    }

    @Test
    void a_hot_key_keeps_its_twenty_newest_requests_as_rows() {
        TriggerResult first = bench.ask("plain").key("hot").send();
        for (int i = 0; i < 200; i++) {
            bench.fixture.advance(Duration.ofMillis(1));
            bench.ask("plain").key("hot").actor("actor " + i).send();
        }
        counted(first, 200);
        List<StoreWrite.DuplicateRequest> newest =
                bench.requests(first.run()).reversed().subList(0, 20);
        for (int i = 0; i < 20; i++) {
            assertEquals("actor " + (199 - i), newest.get(i).actor());
            assertEquals(1, newest.get(i).times());
        }
    }

    @Test
    void answered_duplicates_are_recorded_after_a_clean_stop() {
        TriggerResult first = bench.ask("plain").key("K").send();
        for (int i = 0; i < 50; i++) {
            bench.ask("plain").key("K").send();
        }
        bench.restart();
        assertEquals(50, bench.run(first.run()).counts().replays());
        assertTrue(bench.ask("plain").key("K").send().replayed());
    }

    @Test
    void a_repeat_that_its_source_rejects_is_neither_recorded_nor_counted() {
        TriggerResult first = bench.ask("plain").key("K").send();
        SemelException over = new SemelException(ErrorCode.OVER_QUOTA, "used up", "wait");
        Runnable refuse = () -> {
            throw over;
        };
        assertSame(over, bench.ask("plain").key("K").repeatOnly(refuse).refused());
        assertFalse(bench.ask("plain").key("new").repeatOnly(refuse).send().replayed(), "it is no repeat");
        assertEquals(0, bench.semel().count("replayed"));
        bench.restart(); // which writes all that was to be remembered
        assertEquals(List.of(), bench.requests(first.run()));
        assertEquals(DatabaseRows.DuplicateCounts.NONE, bench.run(first.run()).counts());
    }

    @Test
    void a_rejected_trigger_is_not_counted_as_a_duplicate() {
        TriggerResult first = bench.ask("plain").key("K").send();
        bench.ask("pay").key("K").refused();
        bench.ask("plain").key("K").send();
        DatabaseRows.DuplicateCounts counts = counted(first, 1);
        assertEquals(1, counts.replays());
        assertEquals(1, counts.conflicts());
        assertEquals(1, bench.semel().count("replayed"));
        assertEquals(1, bench.semel().count("conflicts"));
        assertEquals(1, bench.semel().count("fresh"));
    }
}
