package dev.semel.engine.commit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerSource;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Await;
import dev.semel.store.CommitBatch;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import dev.semel.store.NewRun;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreFixture;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.StoreWriteCommand;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Every caller gets its own outcome, whatever happens to the batch it was in. */
@ParameterizedClass
@EnumSource
final class GroupCommitterTest {
    private static final long WINDOW = 1_000_000_000L;

    private final StoreFixture fixture;
    private final FaultyStore store;
    private final AtomicLong nanos = new AtomicLong(1);
    private final EngineMetricCounters counters = new EngineMetricCounters();
    private final ClockAndRandomSource ambient;
    private final WorkerLeaseRenewer leases;
    private final GroupCommitter committer;

    GroupCommitterTest(Dialect dialect) {
        fixture = dialect.open();
        store = new FaultyStore(fixture.store());
        ambient = new ClockAndRandomSource(fixture::time, nanos::get, new SecureRandom());
        var dependencies = new GroupCommitter.EngineDependencies(ambient, counters);
        EngineLimits limits = EngineLimits.DEFAULT.withQueuedTriggers(100);
        leases = new WorkerLeaseRenewer(
                store, new WorkerLeaseRenewer.WorkerIdentity("worker", "1"), limits, dependencies);
        committer = new GroupCommitter(store, leases, limits, dependencies);
        committer
                .submit(0, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateWorkspace("one", new byte[1])))
                .join();
        committer
                .submit(
                        0,
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.PublishVersion(1, "one", "wf_one", "text", "tester")))
                .join();
    }

    @AfterEach
    void close() {
        store.down = false;
        store.open();
        committer.close();
        leases.close();
        store.close();
        Invariants.check(fixture);
        fixture.close();
    }

    private StoreWrite.AdmitRun admit(String key) {
        var run = new NewRun(
                ambient.newId(),
                1,
                null,
                "wf_one",
                1,
                RunState.STARTED,
                new NewRun.TriggerOrigin(TriggerSource.LIBRARY, "actor", key, null),
                "{}",
                new byte[0],
                NewRun.RunParentage.NONE,
                null);
        var claim = new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(1, RunDeduplicationKey.KeyKind.KEY, key),
                new byte[32],
                WINDOW,
                RunDeduplicationKeyRecord.HOLD,
                true);
        return new StoreWrite.AdmitRun(run, List.of(claim), true, fixture.number("SELECT revision FROM semel_catalog"));
    }

    /** Hands these over so that they are one batch. */
    private <O> List<CompletableFuture<O>> gathered(List<? extends StoreWrite<O>> writes) {
        store.shut();
        CompletableFuture<List<StoreWrite.RunExecution>> first = committer.submit(0, new StoreWrite.ClaimRuns(0));
        Await.until("the lane stands at the gate", store::somebodyWaits);
        List<CompletableFuture<O>> answers = new ArrayList<>();
        writes.forEach(write -> answers.add(committer.submit(0, write)));
        assertFalse(first.isDone());
        return answers;
    }

    private static AdmitResult.Fresh fresh(CompletableFuture<AdmitResult> answer) {
        return assertInstanceOf(AdmitResult.Fresh.class, answer.join());
    }

    private static @Nullable Throwable failure(CompletableFuture<?> answer) {
        return assertThrows(CompletionException.class, answer::join).getCause();
    }

    @Test
    void queued_writes_are_one_transaction_and_each_gets_its_own_result() {
        StoreWrite.AdmitRun first = admit("K");
        var answers = gathered(List.of(first, admit("K"), admit("L")));
        long before = counters.batches.sum();
        store.open();
        fresh(answers.get(0));
        RunDeduplicationKeyRecord holder = assertInstanceOf(
                        AdmitResult.KeysHeld.class, answers.get(1).join())
                .keyRecords()
                .getFirst();
        assertNotNull(holder);
        assertEquals(first.run().id(), holder.run());
        fresh(answers.get(2));
        Await.until("both batches are counted", () -> counters.batches.sum() == before + 2);
    }

    @Test
    void a_command_that_locks_keys_or_replies_has_its_own_transaction() {
        var sweep = new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.DeleteTombstones(List.of()));
        var commandRequest =
                new StoreWriteCommand.CommandRequest(ambient.newId(), 1, "sweep", "k", new byte[1], WINDOW);
        var once = new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.IdempotentCommand<>(
                commandRequest, new StoreWriteCommand.DeleteTombstones(List.of()), String::valueOf));
        store.shut();
        List<CompletableFuture<?>> answers = new ArrayList<>();
        answers.add(committer.submit(0, new StoreWrite.ClaimRuns(0)));
        Await.until("the lane stands at the gate", store::somebodyWaits);
        List<StoreWrite<?>> writes = List.of(admit("K"), sweep, once, admit("L"), admit("M"));
        writes.forEach(write -> answers.add(committer.submit(0, write)));
        int before = store.applied.size() + 1; // the claim that waits
        store.open();
        answers.forEach(CompletableFuture::join);
        List<List<StoreWrite<?>>> batches =
                store.applied.stream().skip(before).map(CommitBatch::writes).toList();
        assertEquals(
                List.of(writes.subList(0, 1), writes.subList(1, 2), writes.subList(2, 3), writes.subList(3, 5)),
                batches,
                "in the order in which they came");
    }

    @Test
    void after_a_store_outage_every_write_is_applied() {
        var answers = gathered(List.of(admit("K"), admit("L"), admit("M")));
        store.next.addAll(List.of(FaultyStore.Fault.DOWN, FaultyStore.Fault.DOWN, FaultyStore.Fault.DOWN));
        store.open();
        answers.forEach(GroupCommitterTest::fresh);
        assertEquals(3, counters.storeFailures.sum());
        assertEquals(3, fixture.count("semel_run"));
    }

    @Test
    void a_commit_with_a_lost_response_is_one_fresh_run() {
        StoreWrite.AdmitRun first = admit("K");
        var answers = gathered(List.of(first, admit("K"), admit("L")));
        store.next.addAll(List.of(FaultyStore.Fault.ANSWER_LOST, FaultyStore.Fault.COMMIT_LOST));
        store.open();
        assertTrue(fresh(answers.get(0)).owned());
        assertInstanceOf(AdmitResult.KeysHeld.class, answers.get(1).join());
        assertTrue(fresh(answers.get(2)).owned());
        assertEquals(2, fixture.count("semel_run"));
        assertEquals(2, counters.unknownCommits.sum());
    }

    @Test
    void a_batch_applied_twice_after_a_lost_response_counts_once() {
        StoreWrite.AdmitRun admit = admit("K");
        fresh(committer.admit(0, admit));
        RunId run = admit.run().id();
        StoreWrite.RecordDuplicates tally = new StoreWrite.RecordDuplicates(List.of(new StoreWrite.DuplicateRequest(
                ambient.newId(), 1, run, false, fixture.time(), 200, "actor", null, 7)));
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        assertTrue(committer.submit(0, tally).join());
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        assertEquals(
                StoreWrite.OwnerWriteResult.RECORDED,
                committer
                        .submit(
                                0,
                                new StoreWrite.AppendJournal(
                                        new StoreWrite.RunExecution(run, 1),
                                        0,
                                        "[]",
                                        RunState.RUNNING,
                                        List.of(),
                                        null))
                        .join());
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        var end = new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.COMPLETED,
                StoreWrite.RunResult.output("1"),
                "[]",
                List.of(),
                false);
        assertEquals(
                StoreWrite.OwnerWriteResult.RECORDED, committer.submit(0, end).join());
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        assertFalse(fresh(committer.admit(0, admit)).owned(), "the run has ended and is not brought back");
        assertEquals(7, fixture.number("SELECT replays FROM semel_duplicate_count"));
        assertEquals(1, fixture.count("semel_journal"));
        assertEquals(0, fixture.count("semel_unfinished_run"));
    }

    @Test
    void a_bad_write_fails_alone() {
        List<StoreWrite.AdmitRun> writes = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            writes.add(admit("K" + i));
        }
        var answers = gathered(writes);
        store.poison = write -> write.equals(writes.get(4)) || write.equals(writes.get(7));
        store.open();
        for (int i = 0; i < 9; i++) {
            if (i == 4 || i == 7) {
                assertInstanceOf(StoreFailure.ValueRejected.class, failure(answers.get(i)));
            } else {
                fresh(answers.get(i));
            }
        }
        assertEquals(7, fixture.count("semel_run"));
        assertEquals(2, counters.poisonedWrites.sum());
    }

    private static StoreWrite.AppendJournal entry(StoreWrite.RunExecution by, int seq) {
        return new StoreWrite.AppendJournal(by, seq, "[]", RunState.RUNNING, List.of(), null);
    }

    /** Otherwise the record of a run would have a hole, and its code would be replayed against another past. */
    @Test
    void a_rejected_execution_does_not_write_after_its_run_returns_to_it() {
        StoreWrite.AdmitRun admitted = admit("K");
        fresh(committer.admit(0, admitted));
        StoreWrite.RunExecution first =
                new StoreWrite.RunExecution(admitted.run().id(), 1);
        StoreWrite.RunExecution second =
                new StoreWrite.RunExecution(admitted.run().id(), 2);
        assertFalse(committer.submit(0, entry(second, 0)).join().recorded(), "it is not the second's turn yet");
        committer
                .submit(0, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.ReturnRun(first)))
                .join();
        assertEquals(
                List.of(second),
                committer.submit(0, new StoreWrite.ClaimRuns(1)).join());
        assertFalse(committer.submit(0, entry(second, 1)).join().recorded(), "what comes after it would leave a hole");
        assertEquals(0, fixture.count("semel_journal"));
    }

    @Test
    void after_a_value_that_the_store_cannot_hold_a_run_is_only_suspended() {
        StoreWrite.AdmitRun admitted = admit("K");
        fresh(committer.admit(0, admitted));
        StoreWrite.RunExecution by = new StoreWrite.RunExecution(admitted.run().id(), 1);
        var unfit = new StoreWrite.AppendJournal(by, 0, "[1]", RunState.COMPLETED, List.of(), null);
        assertThrows(CompletionException.class, () -> committer.submit(0, unfit).join());
        assertThrows(
                CompletionException.class,
                () -> committer.submit(0, entry(by, 1)).join());
        assertEquals(0, fixture.count("semel_journal"), "what comes after it would leave a hole");
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{\"for\":\"store\"}", 0, false, false);
        var away = new StoreWrite.AppendJournal(by, 0, "", RunState.WAITING, List.of(), rest);
        assertTrue(committer.submit(0, away).join().recorded());
    }

    @Test
    void after_an_unforeseen_error_the_execution_records_nothing_more() {
        StoreWrite.AdmitRun admitted = admit("K");
        StoreWrite.AdmitRun other = admit("L");
        fresh(committer.admit(0, admitted));
        fresh(committer.admit(0, other));
        StoreWrite.RunExecution by = new StoreWrite.RunExecution(admitted.run().id(), 1);
        store.next.add(FaultyStore.Fault.UNFORESEEN);
        assertInstanceOf(StackOverflowError.class, failure(committer.submit(0, entry(by, 0))));
        assertFalse(committer.submit(0, entry(by, 1)).join().recorded(), "what comes after it would leave a hole");
        assertEquals(0, fixture.count("semel_journal"));
        assertTrue(
                committer
                        .submit(0, entry(new StoreWrite.RunExecution(other.run().id(), 1), 0))
                        .join()
                        .recorded(),
                "other runs continue");
    }

    @Test
    void a_lock_delays_only_the_trigger_that_needs_it() {
        var answers = gathered(List.of(admit("K"), admit("L"), admit("M")));
        FaultyStore.Fault locked = FaultyStore.Fault.LOCKED;
        // The batch, then the first trigger alone; the others go through.
        store.next.addAll(List.of(locked, locked));
        store.open();
        assertInstanceOf(AdmitResult.InUse.class, answers.get(0).join());
        fresh(answers.get(1));
        fresh(answers.get(2));
        assertEquals(2, fixture.count("semel_run"));
    }

    @Test
    void a_key_that_stays_locked_is_in_use() {
        store.next.add(FaultyStore.Fault.LOCKED);
        assertInstanceOf(AdmitResult.InUse.class, committer.admit(0, admit("K")).join());
        assertEquals(0, fixture.count("semel_run"));
        fresh(committer.admit(0, admit("K")));
    }

    @Test
    void a_fenced_batch_is_applied_without_the_lost_lease() {
        fresh(committer.admit(0, admit("before")));
        var old = leases.hold(0);
        store.next.add(FaultyStore.Fault.FENCED);
        fresh(committer.admit(0, admit("K")));
        assertNotEquals(old, store.applied.getLast().leaseSlot(), "without one, or under the next");
        assertEquals(1, counters.fencedBatches.sum());
        Await.until("the worker has a new lease", () -> leases.hold(0) != null);
        assertTrue(fresh(committer.admit(0, admit("L"))).owned());
        long leasesUsed = store.applied.stream()
                .map(batch -> batch.leaseSlot() == null ? 0 : batch.leaseSlot().lease())
                .filter(lease -> lease != 0)
                .distinct()
                .count();
        assertEquals(2, leasesUsed, "a lost lease is never taken up again");
    }

    @Test
    void a_trigger_that_waits_too_long_fails_and_so_do_those_behind_it() {
        store.down = true;
        List<CompletableFuture<AdmitResult>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(committer.admit(0, admit("K" + i)));
        }
        CompletableFuture<DatabaseRows.WorkspaceRow> patient = committer.submit(
                0, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateWorkspace("two", new byte[1])));
        Await.until("the store was tried", () -> counters.storeFailures.sum() > 0);
        nanos.addAndGet(EngineLimits.DEFAULT.writeDeadline().toNanos() + 1);
        for (CompletableFuture<AdmitResult> answer : answers) {
            assertInstanceOf(StoreFailure.class, failure(answer));
        }
        assertFalse(patient.isDone(), "what is no trigger waits for the store");
        store.down = false;
        assertEquals(2, patient.join().ws());
        assertEquals(0, fixture.count("semel_run"));
        fresh(committer.admit(0, admit("K0")));
    }

    @Test
    void a_trigger_behind_a_slow_batch_fails_after_its_deadline() {
        store.shut();
        var slow = committer.submit(0, new StoreWrite.ClaimRuns(0));
        Await.until("the lane waits at the gate", store::somebodyWaits);
        CompletableFuture<AdmitResult> late = committer.admit(0, admit("K"));
        nanos.addAndGet(EngineLimits.DEFAULT.writeDeadline().toNanos() + 1);
        CompletableFuture<AdmitResult> inTime = committer.admit(0, admit("L"));
        store.open();
        slow.join();
        assertInstanceOf(StoreFailure.Unreachable.class, failure(late));
        fresh(inTime);
        assertEquals(1, fixture.count("semel_run"));
    }

    @Test
    void slow_tx_steps_delay_commands_by_as_much_time_and_not_by_one_tx_step_each() {
        StoreWrite.AdmitRun admitted = admit("K");
        assertTrue(fresh(committer.admit(0, admitted)).owned());
        var by = new StoreWrite.RunExecution(admitted.run().id(), 1);
        store.shut();
        var slow = committer.submit(0, new StoreWrite.ClaimRuns(0));
        Await.until("the lane waits at the gate", store::somebodyWaits);
        List<CompletableFuture<?>> transactions = new ArrayList<>();
        List<CompletableFuture<DatabaseRows.WorkspaceRow>> commands = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            if (store.txLanes() == 0) { // PostgreSQL has lanes of their own for them
                transactions.add(committer.submit(0, new StoreWrite.UserTransaction(by, i, _ -> {
                    nanos.addAndGet(900_000_000); // legal on SQLite
                    return "[]";
                })));
            }
            var command = new StoreWriteCommand.CreateWorkspace("workspace-" + i, new byte[1]);
            commands.add(committer.submitWithDeadline(0, new StoreWrite.ExecuteCommand<>(command)));
        }
        store.open();
        slow.join();
        commands.forEach(command -> assertTrue(command.join().ws() > 1));
        transactions.forEach(CompletableFuture::join);
    }

    @Test
    void an_awaited_write_times_out_and_succeeds_on_retry() {
        store.down = true;
        var change = new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateWorkspace("two", new byte[1]));
        CompletableFuture<DatabaseRows.WorkspaceRow> soon = committer.submitWithDeadline(0, change);
        CompletableFuture<DatabaseRows.WorkspaceRow> patient = committer.submit(0, change);
        Await.until("the store was tried", () -> counters.storeFailures.sum() > 0);
        assertFalse(soon.isDone(), "it has time until its deadline");
        nanos.addAndGet(EngineLimits.DEFAULT.writeDeadline().toNanos() + 1);
        assertInstanceOf(StoreFailure.class, failure(soon));
        assertFalse(patient.isDone());
        store.down = false;
        assertEquals(2, patient.join().ws());
        assertEquals(2, committer.submitWithDeadline(0, change).join().ws());
        assertEquals(2, fixture.count("semel_workspace"));
    }

    @Test
    void triggers_beyond_the_queue_limit_are_rejected_immediately() {
        store.shut();
        List<CompletableFuture<AdmitResult>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(committer.admit(0, admit("K" + i)));
        }
        SemelException refused = assertThrows(
                SemelException.class,
                () -> committer.admit(0, admit("too many")).join());
        assertEquals(ErrorCode.OVERLOADED, refused.code());
        assertTrue(refused.code().retryable());
        assertTrue(refused.detail().contains("No run was started"));
        assertEquals(1, counters.overload.sum());
        store.open();
        waiting.forEach(GroupCommitterTest::fresh);
        fresh(committer.admit(0, admit("room again")));
    }

    @Test
    void closing_finishes_accepted_writes_and_rejects_later_ones() {
        var answers = gathered(List.of(admit("K"), admit("L")));
        Thread closing = Thread.ofPlatform().start(committer::close);
        store.open();
        answers.forEach(GroupCommitterTest::fresh);
        Await.until("it is closed", () -> !closing.isAlive());
        SemelException refused = assertThrows(
                SemelException.class, () -> committer.admit(0, admit("M")).join());
        assertEquals(ErrorCode.SHUTTING_DOWN, refused.code());
        CompletableFuture<List<StoreWrite.RunExecution>> late = committer.submit(0, new StoreWrite.ClaimRuns(1));
        Await.until("a late write gets an answer too", late::isDone);
        assertInstanceOf(SemelException.class, failure(late));
        assertEquals(2, fixture.count("semel_run"));
    }
}
