package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.Ledger;
import dev.semel.effect.Ledger.State;
import dev.semel.effect.Ledger.Verdict;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Write.Driver;
import dev.semel.store.Write.Owned;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * On a real PostgreSQL: several lanes at once on few effects and few queues, in batches of everything. No two hold one
 * effect at a time, nobody waits in a circle, and in the end nobody is left in a queue.
 */
final class CrowdTest {
    private static final int LANES = 4;
    private static final int ROUNDS = 60;
    private static final int EFFECTS = 3;
    private static final int QUEUES = 3;

    private final Desk desk = new Desk(Dialect.POSTGRES);
    private final long catalog = desk.reads.catalogChange();
    private final AtomicLong ids = new AtomicLong(5_000_000);
    private final AtomicInteger deadlocks = new AtomicInteger();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final ConcurrentHashMap<Ledger.Id, RunId> holders = new ConcurrentHashMap<>();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void nobody_waits_in_a_circle_and_no_two_hold_one_effect(long seed) throws Exception {
        List<FutureTask<Boolean>> workers = new ArrayList<>();
        for (int slot = 0; slot < LANES; slot++) {
            Worker worker = new Worker(slot, seed);
            workers.add(Apart.start(worker::work));
        }
        for (FutureTask<Boolean> worker : workers) {
            assertTrue(worker.get());
        }
        assertEquals(0, deadlocks.get(), "transactions that waited in a circle");
        assertTrue(granted.get() > ROUNDS, "the lanes met at the effects");
        drain();
        assertEquals(0, desk.place.count("semel_unfinished_run"), "nobody is left behind");
        assertEquals(0, desk.place.count("semel_queue_entry"));
        assertEquals(ended.get(), desk.place.count("semel_finished_run"));
        desk.close();
    }

    /** Every run that is left can be taken up and ended, those behind a gate one after another. */
    private void drain() {
        desk.place.execute("UPDATE semel_unfinished_run SET owner = NULL");
        desk.place.setTime(Place.START + 1); // those that wait for quiet are due
        for (List<Driver> free = desk.claim(); !free.isEmpty(); free = desk.claim()) {
            ended.addAndGet(free.size());
            desk.applyAll(free.stream().map(by -> desk.end(by)).toList());
        }
    }

    /** One lane: the runs it drives, and what they hold. */
    private final class Worker {
        private final Random random;
        private final Lane lane = desk.store.openLane();
        private final Batch.Hold hold;
        private final Map<RunId, Driver> driven = new LinkedHashMap<>();
        private final Map<RunId, Deed> held = new HashMap<>();
        private final Map<RunId, Integer> turns = new HashMap<>();

        Worker(int slot, long seed) {
            this.random = new Random(seed * 31 + slot);
            this.hold = new Batch.Hold(Desk.LEASE, slot);
        }

        boolean work() {
            try (lane) {
                for (int round = 0; round < ROUNDS; round++) {
                    List<Write<?>> writes = new ArrayList<>();
                    for (int i = 0; i < 3; i++) {
                        writes.add(trigger());
                    }
                    driven.values().forEach(by -> writes.add(next(by)));
                    signals(writes);
                    writes.add(new Write.Claim(4));
                    while (!writes.isEmpty()) {
                        settle(writes, apply(writes));
                    }
                }
                return true;
            }
        }

        private Write<?> trigger() {
            RunId id = new RunId(ids.incrementAndGet(), 7);
            List<NewRun.Gate.Place> places = new ArrayList<>();
            for (int queue = QUEUES; queue > 0; queue--) {
                if (random.nextInt(3) == 0) {
                    places.add(new NewRun.Gate.Place("Q" + queue, queue + 1));
                }
            }
            var rate = random.nextBoolean() ? new NewRun.Gate.Rate("R" + random.nextInt(2), 1, 1_000_000) : null;
            var quiet = random.nextInt(4) == 0 ? new NewRun.Gate.Debounce("D" + random.nextInt(2), 1, 1) : null;
            var gate = places.isEmpty() && rate == null ? null : new NewRun.Gate(places, rate, 0, quiet);
            List<Wish> wishes = random.nextBoolean() ? List.of(desk.key("K" + random.nextInt(200))) : List.of();
            NewRun run = desk.linked(id, NewRun.Links.NONE, gate, RunState.STARTED);
            return new Write.Admit(run, wishes, true, catalog);
        }

        private Write<?> next(Driver by) {
            RunId run = by.run();
            Deed deed = held.get(run);
            int turn = turns.merge(run, 1, Integer::sum);
            if (deed != null) {
                // From here on somebody else may be granted it: the settlement is on its way.
                holders.remove(deed.id(), run);
                State to = random.nextBoolean() ? State.FREE : State.DONE;
                Ledger.Op settle = deed.settle(Deed.holder(run, by.claim(), turn), to, "1");
                return random.nextBoolean() ? desk.end(by, settle) : Desk.ops(by, settle);
            }
            Deed wanted = Deed.of(desk.ws, "d" + random.nextInt(EFFECTS));
            Deed own = Deed.of(desk.ws, "own " + run + turn);
            Ledger.Holder holder = new Ledger.Holder("step " + run + turn, run, by.claim(), turn);
            return Desk.ops(by, own.reserve(holder), wanted.reserve(Deed.holder(run, by.claim(), turn)));
        }

        private void signals(List<Write<?>> writes) {
            List<RunId> runs = new ArrayList<>(driven.keySet());
            for (int i = 0; i < 2 && !runs.isEmpty(); i++) {
                // The neighbours' runs have ids close to ours.
                RunId near = new RunId(runs.get(random.nextInt(runs.size())).high() + random.nextInt(9) - 4, 7);
                writes.add(new Write.Change<>(new Edit.Signal(desk.ws, near, "s", "k" + random.nextInt(99), "{}")));
            }
        }

        /** Applied again where somebody was in the way, as a lane does. */
        private List<Object> apply(List<Write<?>> writes) {
            while (true) {
                try {
                    return lane.apply(new Batch(hold, List.copyOf(writes)));
                } catch (StoreFailure.Locked locked) {
                    if (!locked.waited()) {
                        deadlocks.incrementAndGet();
                    }
                }
            }
        }

        /** Takes the answers in; what is left in the list is to be applied again. */
        private void settle(List<Write<?>> writes, List<Object> outcomes) {
            List<Write<?>> again = new ArrayList<>();
            for (int i = 0; i < outcomes.size(); i++) {
                Object outcome = outcomes.get(i);
                Write<?> write = writes.get(i);
                if (outcome instanceof Write.Admitted.Again || outcome == Write.Deferred.DEFERRED) {
                    again.add(write);
                } else {
                    answered(write, outcome);
                }
            }
            writes.clear();
            writes.addAll(again);
        }

        private void answered(Write<?> write, Object outcome) {
            switch (write) {
                case Write.Admit admit -> {
                    if (outcome instanceof Write.Admitted.Fresh fresh && fresh.owned()) {
                        driven.put(admit.run().id(), new Driver(admit.run().id(), 1));
                    }
                }
                case Write.Append append -> appended(append, (Owned) outcome);
                case Write.End end -> {
                    assertTrue(((Owned) outcome).recorded());
                    ended.incrementAndGet();
                    driven.remove(end.run());
                    held.remove(end.run());
                }
                case Write.Claim _ -> {
                    for (Object one : (List<?>) outcome) {
                        Driver by = (Driver) one;
                        driven.put(by.run(), by);
                    }
                }
                case Write.Tally _, Write.Keep _, Write.Tx _, Write.Change<?> _ -> {}
            }
        }

        private void appended(Write.Append append, Owned owned) {
            assertTrue(owned.recorded());
            RunId run = append.run();
            held.remove(run);
            for (int i = 0; i < append.ops().size(); i++) {
                boolean contested = append.ops().get(i).id().digest().startsWith("d");
                if (contested && owned.verdicts().get(i) instanceof Verdict.Granted) {
                    granted.incrementAndGet();
                    assertNull(holders.putIfAbsent(append.ops().get(i).id(), run), "two hold one effect");
                    held.put(run, new Deed(append.ops().get(i).id(), 0, 0, Ledger.OnChange.SEND, "data"));
                }
            }
        }
    }
}
