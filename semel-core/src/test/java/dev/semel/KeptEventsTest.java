package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.schedule.Ticked;
import dev.semel.store.Dialect;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.Waiting;
import dev.semel.store.Write;
import dev.semel.trigger.Door;
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
final class KeptEventsTest {
    private final Bench bench;

    KeptEventsTest(Dialect dialect) {
        bench = new Bench(dialect);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private Write.Kept keep(Semel worker, String eventId) {
        worker.events().look();
        Rows.Event event = new Rows.Event(
                bench.workspace(),
                eventId,
                worker.newId(),
                Door.EVENT,
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
                .keep(new Write.Keep(event, worker.changes()), event.eventId())
                .await();
    }

    @Test
    void old_events_are_swept_and_others_stay() {
        assertEquals(new Write.Kept.Now(true), keep(bench.semel(), "evt_old"));
        bench.place.advance(Duration.ofDays(7).plusSeconds(1));
        assertEquals(new Write.Kept.Now(true), keep(bench.semel(), "evt_new"));
        bench.restart(); // the sweep walks when a worker starts, and rests afterwards
        Waiting.until("the old event is gone", () -> bench.place.count("semel_event") == 1);
        assertEquals(new Write.Kept.Now(false), keep(bench.semel(), "evt_new"));
    }

    @Test
    void what_is_old_goes_in_one_walk_however_much_it_is() {
        List<Rows.Tick> ticks = IntStream.range(0, 4_500)
                .mapToObj(i -> new Rows.Tick("wf_1", "often", i, Ticked.SKIPPED, "overlap", null, i, 0))
                .toList();
        bench.semel().change(new Edit.NoteTicks(ticks));
        bench.restart();
        Waiting.until("all of them are gone", () -> bench.place.count("semel_schedule_tick") == 0);
    }
}
