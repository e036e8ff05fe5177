package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.StartConditions;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.StoreWrite.RunExecution;
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
final class ConcurrentLanesTest {
    private static final int LANES = 4;
    private static final int ROUNDS = 60;
    private static final int EFFECTS = 3;
    private static final int QUEUES = 3;

    private final TestStoreClient client = new TestStoreClient(Dialect.POSTGRES);
    private final long catalog = client.reads.catalogVersion();
    private final AtomicLong ids = new AtomicLong(5_000_000);
    private final AtomicInteger deadlocks = new AtomicInteger();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final ConcurrentHashMap<EffectLedger.EffectId, RunId> holders = new ConcurrentHashMap<>();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void lanes_never_deadlock_and_never_share_one_effect(long seed) throws Exception {
        List<FutureTask<Boolean>> workers = new ArrayList<>();
        for (int slot = 0; slot < LANES; slot++) {
            LaneWorker worker = new LaneWorker(slot, seed);
            workers.add(BackgroundTask.start(worker::work));
        }
        for (FutureTask<Boolean> worker : workers) {
            assertTrue(worker.get());
        }
        assertEquals(0, deadlocks.get(), "transactions that waited in a circle");
        assertTrue(granted.get() > ROUNDS, "the lanes met at the effects");
        drain();
        assertEquals(0, client.fixture.count("semel_unfinished_run"), "nobody is left behind");
        assertEquals(0, client.fixture.count("semel_queue_entry"));
        assertEquals(ended.get(), client.fixture.count("semel_finished_run"));
        client.close();
    }

    /** Every run that is left can be taken up and ended, those behind a gate one after another. */
    private void drain() {
        client.fixture.execute("UPDATE semel_unfinished_run SET owner = NULL");
        client.fixture.setTime(StoreFixture.START + 1); // those that wait for quiet are due
        for (List<RunExecution> free = client.claim(); !free.isEmpty(); free = client.claim()) {
            ended.addAndGet(free.size());
            client.applyAll(free.stream().map(by -> client.end(by)).toList());
        }
    }

    /** One lane: the runs it drives, and what they hold. */
    private final class LaneWorker {
        private final Random random;
        private final WorkflowStore.BatchWriter lane = client.store.openLane();
        private final CommitBatch.LeaseSlot hold;
        private final Map<RunId, RunExecution> executed = new LinkedHashMap<>();
        private final Map<RunId, TestEffect> held = new HashMap<>();
        private final Map<RunId, Integer> turns = new HashMap<>();

        LaneWorker(int slot, long seed) {
            this.random = new Random(seed * 31 + slot);
            this.hold = new CommitBatch.LeaseSlot(TestStoreClient.LEASE, slot);
        }

        boolean work() {
            try (lane) {
                for (int round = 0; round < ROUNDS; round++) {
                    List<StoreWrite<?>> writes = new ArrayList<>();
                    for (int i = 0; i < 3; i++) {
                        writes.add(trigger());
                    }
                    executed.values().forEach(by -> writes.add(next(by)));
                    signals(writes);
                    writes.add(new StoreWrite.ClaimRuns(4));
                    while (!writes.isEmpty()) {
                        settle(writes, apply(writes));
                    }
                }
                return true;
            }
        }

        private StoreWrite<?> trigger() {
            RunId id = new RunId(ids.incrementAndGet(), 7);
            List<StartConditions.QueueLimit> queueLimits = new ArrayList<>();
            for (int queue = QUEUES; queue > 0; queue--) {
                if (random.nextInt(3) == 0) {
                    queueLimits.add(new StartConditions.QueueLimit("Q" + queue, queue + 1));
                }
            }
            var rate =
                    random.nextBoolean() ? new StartConditions.RateLimit("R" + random.nextInt(2), 1, 1_000_000) : null;
            var debounceWindow =
                    random.nextInt(4) == 0 ? new StartConditions.DebounceWindow("D" + random.nextInt(2), 1, 1) : null;
            var conditions = queueLimits.isEmpty() && rate == null
                    ? null
                    : new StartConditions(queueLimits, rate, 0, debounceWindow);
            List<RunDeduplicationKeyClaim> claims =
                    random.nextBoolean() ? List.of(client.key("K" + random.nextInt(200))) : List.of();
            NewRun run = client.linked(id, NewRun.RunParentage.NONE, conditions, RunState.STARTED);
            return new StoreWrite.AdmitRun(run, claims, true, catalog);
        }

        private StoreWrite<?> next(RunExecution by) {
            RunId run = by.run();
            TestEffect effect = held.get(run);
            int turn = turns.merge(run, 1, Integer::sum);
            if (effect != null) {
                // From here on somebody else may be granted it: the settlement is on its way.
                holders.remove(effect.id(), run);
                EffectState to = random.nextBoolean() ? EffectState.FREE : EffectState.DONE;
                EffectLedger.LedgerOperation settle = effect.settle(TestEffect.holder(run, by.claim(), turn), to, "1");
                return random.nextBoolean() ? client.end(by, settle) : TestStoreClient.ops(by, settle);
            }
            TestEffect wanted = TestEffect.of(client.ws, "d" + random.nextInt(EFFECTS));
            TestEffect own = TestEffect.of(client.ws, "own " + run + turn);
            EffectLedger.EffectHolder holder =
                    new EffectLedger.EffectHolder("step " + run + turn, run, by.claim(), turn);
            return TestStoreClient.ops(
                    by, own.reserve(holder), wanted.reserve(TestEffect.holder(run, by.claim(), turn)));
        }

        private void signals(List<StoreWrite<?>> writes) {
            List<RunId> runs = new ArrayList<>(executed.keySet());
            for (int i = 0; i < 2 && !runs.isEmpty(); i++) {
                // The neighbours' runs have ids close to ours.
                RunId near = new RunId(runs.get(random.nextInt(runs.size())).high() + random.nextInt(9) - 4, 7);
                writes.add(new StoreWrite.ExecuteCommand<>(
                        new StoreWriteCommand.SendSignal(client.ws, near, "s", "k" + random.nextInt(99), "{}")));
            }
        }

        /** Applied again where somebody was in the way, as a lane does. */
        private List<Object> apply(List<StoreWrite<?>> writes) {
            while (true) {
                try {
                    return lane.apply(new CommitBatch(hold, List.copyOf(writes)));
                } catch (StoreFailure.LockConflict locked) {
                    if (!locked.waited()) {
                        deadlocks.incrementAndGet();
                    }
                }
            }
        }

        /** Takes the answers in; what is left in the list is to be applied again. */
        private void settle(List<StoreWrite<?>> writes, List<Object> outcomes) {
            List<StoreWrite<?>> again = new ArrayList<>();
            for (int i = 0; i < outcomes.size(); i++) {
                Object outcome = outcomes.get(i);
                StoreWrite<?> write = writes.get(i);
                if (outcome instanceof StoreWrite.AdmitResult.RetryNextBatch
                        || outcome == StoreWrite.Deferred.DEFERRED) {
                    again.add(write);
                } else {
                    answered(write, outcome);
                }
            }
            writes.clear();
            writes.addAll(again);
        }

        private void answered(StoreWrite<?> write, Object outcome) {
            switch (write) {
                case StoreWrite.AdmitRun admit -> {
                    if (outcome instanceof StoreWrite.AdmitResult.Fresh fresh && fresh.owned()) {
                        executed.put(
                                admit.run().id(), new RunExecution(admit.run().id(), 1));
                    }
                }
                case StoreWrite.AppendJournal append -> appended(append, (OwnerWriteResult) outcome);
                case StoreWrite.EndRun end -> {
                    assertTrue(((OwnerWriteResult) outcome).recorded());
                    ended.incrementAndGet();
                    executed.remove(end.run());
                    held.remove(end.run());
                }
                case StoreWrite.ClaimRuns _ -> {
                    for (Object one : (List<?>) outcome) {
                        RunExecution by = (RunExecution) one;
                        executed.put(by.run(), by);
                    }
                }
                case StoreWrite.RecordDuplicates _,
                        StoreWrite.SaveEvent _,
                        StoreWrite.UserTransaction _,
                        StoreWrite.ExecuteCommand<?> _ -> {}
            }
        }

        private void appended(StoreWrite.AppendJournal append, OwnerWriteResult owned) {
            assertTrue(owned.recorded());
            RunId run = append.run();
            held.remove(run);
            for (int i = 0; i < append.ops().size(); i++) {
                boolean contested = append.ops().get(i).id().digest().startsWith("d");
                if (contested && owned.ledgerDecisions().get(i) instanceof LedgerDecision.SendGranted) {
                    granted.incrementAndGet();
                    assertNull(holders.putIfAbsent(append.ops().get(i).id(), run), "two hold one effect");
                    held.put(
                            run,
                            new TestEffect(append.ops().get(i).id(), 0, 0, EffectLedger.ChangePolicy.SEND, "data"));
                }
            }
        }
    }
}
