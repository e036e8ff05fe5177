package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.admission.TriggerSource;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Events are kept for seven days, and go by themselves. */
@ParameterizedClass
@EnumSource
final class EventRetentionTest {
    private final EngineTestBench bench;

    EventRetentionTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private StoreWrite.SaveEventResult keep(SemelRuntime worker, String eventId) {
        worker.events().refreshCatalog();
        DatabaseRows.EventRow event = new DatabaseRows.EventRow(
                bench.workspace(),
                eventId,
                worker.newId(),
                TriggerSource.EVENT,
                "/shop",
                eventId,
                "paid",
                "{}",
                0,
                "tester",
                null,
                0,
                "[]");
        return worker.events()
                .store(new StoreWrite.SaveEvent(event, worker.catalogVersion()), event.eventId())
                .await();
    }

    @Test
    void old_events_are_deleted_and_others_stay() {
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), keep(bench.semel(), "evt_old"));
        bench.fixture.advance(Duration.ofDays(7).plusSeconds(1));
        assertEquals(new StoreWrite.SaveEventResult.Saved(true), keep(bench.semel(), "evt_new"));
        bench.restart(); // the sweep walks when a worker starts, and rests afterwards
        Await.until("the old event is gone", () -> bench.fixture.count("semel_event") == 1);
        assertEquals(new StoreWrite.SaveEventResult.Saved(false), keep(bench.semel(), "evt_new"));
    }

    @Test
    void all_old_events_are_deleted_in_one_pass() {
        List<DatabaseRows.TickRow> ticks = IntStream.range(0, 4_500)
                .mapToObj(i -> new DatabaseRows.TickRow(
                        "wf_1", "often", i, ScheduleTickOutcome.SKIPPED, "overlap", null, i, 0))
                .toList();
        bench.semel().change(new StoreWriteCommand.RecordBackfill(ticks));
        bench.restart();
        Await.until("all of them are gone", () -> bench.fixture.count("semel_schedule_tick") == 0);
    }
}
