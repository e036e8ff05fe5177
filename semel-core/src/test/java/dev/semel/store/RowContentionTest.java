package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.StartConditions;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.run.RunId;
import dev.semel.store.StoreWrite.Deferred;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a real PostgreSQL: two transactions that meet at one row, in the order that hurts. */
final class RowContentionTest {
    private final TestStoreClient client = new TestStoreClient(Dialect.POSTGRES);
    private final WorkflowStore.BatchWriter second = client.store.openLane();
    private final CommitBatch.LeaseSlot secondHold = new CommitBatch.LeaseSlot(TestStoreClient.LEASE, 1);

    @AfterEach
    void close() {
        second.close();
        client.close();
    }

    /** Another transaction, stopped in the middle. */
    private Connection stopped(String... statements) throws SQLException {
        Connection connection = client.fixture.jdbc();
        connection.setAutoCommit(false);
        for (String sql : statements) {
            UserTransactionRules.run(connection, sql);
        }
        return connection;
    }

    private static String hex(RunId run) {
        return "'\\x" + java.util.HexFormat.of().formatHex(run.bytes()) + "'::bytea";
    }

    private Object onSecond(StoreWrite<?> write) {
        return second.apply(new CommitBatch(secondHold, List.of(write))).getFirst();
    }

    @Test
    void a_signal_concurrent_with_the_suspension_wakes_the_run() throws Exception {
        RunId run = client.fresh();
        try (Connection signaller = stopped(
                "INSERT INTO semel_signal (run, name, key, id, value, at) VALUES (" + hex(run) + ", 'paid', 'k', "
                        + hex(client.id()) + ", '{}', 1)",
                "UPDATE semel_unfinished_run SET due_at = CASE WHEN state = 4 THEN 0 ELSE due_at END WHERE run = "
                        + hex(run))) {
            FutureTask<OwnerWriteResult> rest = BackgroundTask.start(
                    () -> client.apply(TestStoreClient.rest(new RunExecution(run, 1), StoreWrite.Suspension.NEVER, 0)));
            PostgresStoreFixture.awaitBlockedBy(signaller);
            signaller.commit();
            assertEquals(OwnerWriteResult.RECORDED, rest.get());
        }
        assertEquals(List.of(new RunExecution(run, 2)), client.claim());
    }

    @Test
    void a_signal_that_waits_for_the_suspension_finds_the_run_waiting() throws Exception {
        RunId run = client.fresh();
        try (Connection resting =
                stopped("UPDATE semel_unfinished_run SET owner = NULL, state = 4, waiting_for = '{}', due_at = "
                        + Long.MAX_VALUE + " WHERE run = " + hex(run))) {
            var signal = new StoreWrite.ExecuteCommand<>(
                    new StoreWriteCommand.SendSignal(client.ws, run, "paid", "k", "{}"));
            FutureTask<Object> signalled = BackgroundTask.start(() -> onSecond(signal));
            PostgresStoreFixture.awaitBlockedBy(resting);
            resting.commit();
            assertEquals(StoreWriteCommand.SignalResult.DELIVERED, signalled.get());
        }
        assertEquals(List.of(new RunExecution(run, 2)), client.claim());
    }

    /** A transaction that has inserted the effect's row for another run and is not committed. */
    private Connection reserving(TestEffect effect, RunId other) throws SQLException {
        String columns = "ws, digest, step, run, claim, reservation, state, generation, attempt, first_at, accepted_at,"
                + " window_micros, expires_at, key, path, workflow_id, protection, action, sent_at";
        return stopped("INSERT INTO semel_effect (" + columns + ") VALUES ("
                + effect.id().workspace() + ", '"
                + effect.id().digest() + "', 'other', " + hex(other) + ", 1, 1, 1, 1, 1, 1, 0, 0, 0, 'k', 'p', 'wf', "
                + "'ask', 'create', 1)");
    }

    @Test
    void a_concurrently_inserted_row_defers_only_its_own_request() throws Exception {
        TestEffect contested = TestEffect.of(client.ws, "m");
        TestEffect early = TestEffect.of(client.ws, "a");
        TestEffect late = TestEffect.of(client.ws, "z");
        RunId other = client.fresh();
        RunId runId = client.fresh();
        RunId rests = client.fresh();
        RunId follows = client.fresh();
        RunId innocent = client.fresh();
        client.apply(TestStoreClient.ops(runId, late.reserve(runId)));
        EffectLedger.LedgerOperation free = late.settle(runId, EffectState.FREE, null);
        StoreWrite<?>[] batch = {
            client.append(runId, 0, "[\"before\"]"),
            TestStoreClient.ops(runId, early.reserve(runId), free, contested.reserve(runId)),
            client.append(runId, 1, "[\"after\"]"),
            client.end(new RunExecution(runId, 1)),
            noteAndRest(contested, rests),
            TestStoreClient.ops(follows, late.reserve(follows)),
            TestStoreClient.ops(innocent, TestEffect.of(client.ws, "n").reserve(innocent))
        };
        List<Object> outcomes;
        try (Connection reserving = reserving(contested, other)) {
            FutureTask<List<Object>> applied = BackgroundTask.start(() -> client.applyAll(batch));
            PostgresStoreFixture.awaitBlockedBy(reserving);
            reserving.commit();
            outcomes = applied.get();
        }
        assertEquals(OwnerWriteResult.RECORDED, outcomes.get(0));
        assertEquals(List.of(Deferred.DEFERRED, Deferred.DEFERRED, Deferred.DEFERRED), outcomes.subList(1, 4));
        assertTrue(
                assertInstanceOf(OwnerWriteResult.class, outcomes.get(4)).recorded(), "a note needs no row of its own");
        assertEquals(Deferred.DEFERRED, outcomes.get(5), "its answer would rest on what was not done");
        assertEquals(
                List.of(new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false)), verdicts(outcomes.get(6)));
        assertEquals(List.of("[\"before\"]"), client.journal(runId));
        assertEquals(EffectState.RESERVED, row(late).state());
        List<Object> next = client.decided(batch[1], batch[2], batch[3], batch[5]);
        assertEquals(
                List.of(
                        new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false),
                        new LedgerDecision.Recorded(),
                        new LedgerDecision.HeldByOtherRun(other, false)),
                verdicts(next.getFirst()));
        assertEquals(List.of(new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false)), verdicts(next.get(3)));
        assertEquals(List.of("[\"before\"]", "[\"after\"]"), client.journal(runId));
    }

    private static StoreWrite.AppendJournal noteAndRest(TestEffect effect, RunId run) {
        StoreWrite.AppendJournal rest = TestStoreClient.rest(new RunExecution(run, 1), StoreWrite.Suspension.NEVER, 0);
        return new StoreWrite.AppendJournal(
                rest.by(), 0, "", rest.state(), List.of(effect.note(run)), rest.suspension());
    }

    private static List<LedgerDecision> verdicts(Object outcome) {
        return assertInstanceOf(OwnerWriteResult.class, outcome).ledgerDecisions();
    }

    private EffectLedger.EffectRow row(TestEffect effect) {
        EffectLedger.EffectRow row = client.reads.effect(effect.id());
        assertNotNull(row);
        return row;
    }

    @Test
    void a_row_whose_insert_is_rolled_back_goes_to_the_waiting_request() throws Exception {
        TestEffect effect = TestEffect.of(client.ws, "m");
        RunId run = client.fresh();
        try (Connection reserving = reserving(effect, client.fresh())) {
            FutureTask<OwnerWriteResult> applied =
                    BackgroundTask.start(() -> client.apply(TestStoreClient.ops(run, effect.reserve(run))));
            PostgresStoreFixture.awaitBlockedBy(reserving);
            reserving.rollback();
            assertEquals(
                    List.of(new LedgerDecision.SendGranted(1, 1, StoreFixture.START, false)), verdicts(applied.get()));
        }
    }

    @Test
    void an_uncommitted_settlement_is_waited_for() throws Exception {
        TestEffect effect = TestEffect.of(client.ws, "m").once(1000);
        RunId one = client.fresh();
        RunId two = client.fresh();
        client.apply(TestStoreClient.ops(one, effect.reserve(one)));
        try (Connection settling = stopped("UPDATE semel_effect SET state = 2, accepted_at = 1, result = '1', "
                + "expires_at = " + (StoreFixture.START + 1))) {
            FutureTask<OwnerWriteResult> asked =
                    BackgroundTask.start(() -> client.apply(TestStoreClient.ops(two, effect.reserve(two))));
            PostgresStoreFixture.awaitBlockedBy(settling);
            settling.commit();
            assertEquals(List.of(new LedgerDecision.Suppressed("1", one, 1)), verdicts(asked.get()));
        }
    }

    @Test
    void two_concurrent_first_debounced_triggers_are_one_run() throws Exception {
        var conditions = new StartConditions(List.of(), null, 0, new StartConditions.DebounceWindow("Q", 100, 100));
        for (int round = 0; round < 20; round++) {
            StoreWrite.AdmitRun here = client.gated(client.id(), conditions, client.key("here " + round));
            StoreWrite.AdmitRun there = client.gated(client.id(), conditions, client.key("there " + round));
            FutureTask<Object> other = BackgroundTask.start(() -> onSecond(there));
            Object mine = client.apply(here);
            Object theirs = other.get();
            assertFalse(
                    mine instanceof StoreWrite.AdmitResult.Fresh && theirs instanceof StoreWrite.AdmitResult.Fresh,
                    "two runs for one quiet time");
            client.fixture.setTime(client.fixture.time() + 100);
            assertEquals(1, client.claim().size());
        }
    }

    @Test
    void a_run_queued_while_the_last_one_leaves_still_starts() throws Exception {
        var conditions = new StartConditions(List.of(new StartConditions.QueueLimit("Q", 1)), null, 0, null);
        RunId before = client.id();
        client.apply(client.gated(before, conditions));
        RunExecution driver = client.claim().getFirst();
        for (int round = 0; round < 40; round++) {
            StoreWrite.EndRun end = client.end(driver);
            RunId next = client.id();
            StoreWrite.AdmitRun enters = client.gated(next, conditions);
            FutureTask<Object> entered = BackgroundTask.start(() -> onSecond(enters));
            assertTrue(client.apply(end).recorded());
            assertInstanceOf(StoreWrite.AdmitResult.Fresh.class, entered.get());
            List<RunExecution> claimed = client.claim();
            assertEquals(List.of(new RunExecution(next, 1)), claimed);
            driver = claimed.getFirst();
        }
    }
}
