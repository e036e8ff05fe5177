package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.engine.Catalog;
import dev.semel.error.StepFailed;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.store.Place;
import dev.semel.store.Plans;
import dev.semel.store.PostgresPlace;
import dev.semel.store.Replay;
import dev.semel.store.Waiting;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A plan whose runs are code that only one of two workers has. */
final class ReplayElsewhereTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final Place place = PostgresPlace.withItsOwnClock();
    private final Semel here = open();
    private Semel there = open();
    private final AtomicBoolean broken = new AtomicBoolean(true);

    private Semel open() {
        return Semel.open(Settings.of(place.url(), version -> {
            throw new Catalog.NotKnownHere(version.name(), version.workflowId());
        }));
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        place.close();
    }

    private Replay.Plan now(int ws, Replay.Plan plan) {
        return Objects.requireNonNull(here.replays().find(ws, plan.id()));
    }

    @Test
    void a_worker_without_the_code_leaves_it_to_one_that_has_it() {
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.step("try").retry(Retry.none()).run(String.class, _ -> {
                    if (broken.get()) {
                        throw new IllegalStateException("not today");
                    }
                    return in;
                }));
        there.register(flow);
        Run<String> failed = there.start(flow, "x");
        assertThrows(StepFailed.class, () -> failed.result(SOON));
        broken.set(false);
        int ws = here.backstage().workspace();
        Replay.Plan plan = here.replays()
                .plan(new Replays.Asked(
                        ws,
                        "ann",
                        new Replays.Which.These(List.of(failed.id())),
                        new Order("test", "", false),
                        null,
                        false));
        there.close();
        here.replays().apply(ws, plan.id(), Manner.SAFE, "ann");
        Waiting.until(
                "it says what it waits for",
                () -> now(ws, plan).note().equals("It waits for a worker that has the code of \"flow\" v1."));
        assertEquals(Replay.State.APPLYING, now(ws, plan).state());
        there = open();
        there.register(flow);
        Waiting.until("it is applied", () -> {
            there.replays().apply(ws, plan.id(), Manner.SAFE, "ann");
            return now(ws, plan).state() == Replay.State.DONE;
        });
        assertEquals("", now(ws, plan).note());
        Replay.Item item = here.replays()
                .items(new Plans.Wanted(plan.id(), 0, null), null, 10)
                .getFirst();
        assertEquals(Replay.Fate.APPLIED, item.fate(), item.note());
        assertEquals(
                "x", there.run(flow, Objects.requireNonNull(item.made()).text()).result(SOON));
    }
}
