package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import java.util.AbstractList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Only the lease that drives a run writes about it. */
interface OwnershipRules {
    TestStoreClient client();

    @Test
    default void an_owner_writes_its_journal_in_order_and_its_end() {
        RunId run = client().fresh(client().key("K"));
        assertEquals(0, client().reads.journalLength(run));
        assertEquals(OwnerWriteResult.RECORDED, client().apply(client().append(run, 0, "[\"a\"]")));
        assertEquals(RunState.RUNNING, client().runOf(run).state());
        assertEquals(
                List.of(OwnerWriteResult.RECORDED, OwnerWriteResult.RECORDED),
                client().applyAll(client().append(run, 1, "[\"b\"]"), client().append(run, 2, "[\"ü€😀\"]")));
        assertEquals(List.of("[\"a\"]", "[\"b\"]", "[\"ü€😀\"]"), client().journal(run));
        assertEquals(3, client().reads.journalLength(run));
        client().fixture.setTime(StoreFixture.START + 5);
        var end = new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.COMPLETED,
                StoreWrite.RunResult.output("{\"ok\":true}"),
                "[\"rest\"]",
                List.of(),
                false);
        assertEquals(OwnerWriteResult.RECORDED, client().apply(end));
        DatabaseRows.RunRow ended = client().runOf(run);
        assertEquals(RunState.COMPLETED, ended.state());
        assertEquals(new DatabaseRows.RunEnd(StoreFixture.START + 5, end.result(), "[\"rest\"]"), ended.end());
        assertEquals(0, client().reads.countUnfinished());
    }

    @Test
    default void a_failed_end_stores_code_message_and_step() {
        RunId run = client().fresh();
        client().apply(client().failed(run));
        DatabaseRows.RunRow ended = client().runOf(run);
        assertEquals(RunState.FAILED, ended.state());
        DatabaseRows.RunEnd end = ended.end();
        assertNotNull(end);
        assertEquals(new StoreWrite.RunResult(null, "broken", "it broke", "pay"), end.result());
    }

    @Test
    default void a_worker_that_does_not_own_the_run_writes_nothing_about_it() {
        RunId mine = client().fresh();
        RunId free = client().id();
        client().apply(client().admit(client().run(free), List.of(), false));
        RunId unknown = client().id();
        assertEquals(
                List.of(
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.RECORDED),
                client().applyAll(
                                client().append(free, 0, "[1]"),
                                client().end(free),
                                client().append(unknown, 0, "[1]"),
                                client().end(unknown),
                                client().append(mine, 0, "[1]")));
        assertEquals(1, client().fixture.count("semel_journal"));
        assertEquals(0, client().fixture.count("semel_finished_run"));
        assertEquals(RunState.STARTED, client().runOf(free).state());
    }

    @Test
    default void without_a_lease_no_run_is_owned() {
        RunId mine = client().fresh();
        assertEquals(OwnerWriteResult.FENCED, client().applyAs(null, client().append(mine, 0, "[1]")));
        assertEquals(OwnerWriteResult.FENCED, client().applyAs(null, client().end(mine)));
        assertEquals(RunState.STARTED, client().runOf(mine).state());
        client().apply(client().end(mine));
        assertEquals(
                OwnerWriteResult.FENCED, client().applyAs(null, client().end(mine)), "nor claims an end as its own");
    }

    @Test
    default void a_batch_under_a_lost_lease_is_fenced_completely() {
        client().leases.end(TestStoreClient.LEASE);
        assertThrows(StoreFailure.Fenced.class, () -> client().apply(client().admit(client().id(), client().key("K"))));
        assertEquals(0, client().fixture.count("semel_run"));
        assertEquals(0, client().fixture.count("semel_key"));
    }

    @Test
    default void an_error_inside_a_batch_leaves_nothing_that_the_next_batch_commits() {
        RunId waiting = client().id();
        client().apply(client().admit(client().run(waiting), List.of(), false));
        List<String> failing = new AbstractList<>() {
            @Override
            public String get(int index) {
                throw new StackOverflowError("on command");
            }

            @Override
            public int size() {
                return 1;
            }
        };
        StoreWrite.AdmitRun lost = client().admit(client().id(), client().key("K"));
        assertThrows(
                StackOverflowError.class,
                () -> client().applyAll(lost, new StoreWrite.ClaimRuns(1, failing, Integer.MAX_VALUE)));
        client().fresh(client().key("L"));
        assertEquals(2, client().fixture.count("semel_run"), "the run of the failed batch does not exist");
        client().fresh(client().key("K"));
    }

    @Test
    default void a_slot_that_the_lease_never_had_is_fenced() {
        var beyond = new CommitBatch.LeaseSlot(TestStoreClient.LEASE, client().slots());
        assertThrows(StoreFailure.Fenced.class, () -> client().applyAs(beyond, new StoreWrite.ClaimRuns(1)));
        var other = new CommitBatch.LeaseSlot(TestStoreClient.LEASE + 1, 0);
        assertThrows(StoreFailure.Fenced.class, () -> client().applyAs(other, new StoreWrite.ClaimRuns(1)));
    }

    @Test
    default void a_fenced_lane_continues_under_a_new_lease() {
        RunId run = client().fresh();
        client().leases.end(TestStoreClient.LEASE);
        assertThrows(
                StoreFailure.Fenced.class, () -> TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(1))));
        client().leases.start(78, "client", client().slots(), TestStoreClient.TTL);
        assertEquals(
                List.of(run),
                TestStoreClient.runs(client().applyAs(new CommitBatch.LeaseSlot(78, 0), new StoreWrite.ClaimRuns(1))));
    }

    @Test
    default void a_returned_lease_frees_its_runs_immediately() {
        RunId run = client().fresh();
        assertFalse(client().freeWork());
        client().leases.end(TestStoreClient.LEASE);
        assertTrue(client().freeWork());
        assertFalse(client().leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL), "it is never taken up again");
        client().leases.start(78, "client", client().slots(), TestStoreClient.TTL);
        var hold = new CommitBatch.LeaseSlot(78, 0);
        assertEquals(List.of(run), TestStoreClient.runs(client().applyAs(hold, new StoreWrite.ClaimRuns(5))));
        assertEquals(2, TestStoreClient.claims(client().runOf(run)));
        assertEquals(
                OwnerWriteResult.RECORDED,
                client().applyAs(
                                hold,
                                new StoreWrite.AppendJournal(
                                        new StoreWrite.RunExecution(run, 2),
                                        0,
                                        "[1]",
                                        RunState.RUNNING,
                                        List.of(),
                                        null)));
    }

    @Test
    default void a_renewed_lease_stays_valid() {
        assertTrue(client().leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(0, client().leases.takeOverExpired(0));
        client().fresh();
    }

    @Test
    default void a_worker_does_not_take_over_its_own_expired_lease() {
        RunId run = client().fresh();
        client().fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(0, client().leases.takeOverExpired(TestStoreClient.LEASE));
        assertTrue(client().leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(OwnerWriteResult.RECORDED, client().apply(client().append(run, 0, "[1]")));
    }

    @Test
    default void a_claim_takes_the_oldest_free_runs_up_to_its_limit() {
        RunId queued = client().id();
        RunId first = client().id();
        RunId second = client().id();
        RunId third = client().id();
        client().fresh();
        client().applyAll(
                        client().admit(client().run(third), List.of(), false),
                        client().admit(client().run(first), List.of(), false),
                        client().admit(client().run(queued, RunState.QUEUED, null), List.of(), false),
                        client().admit(client().run(second), List.of(), false));
        assertEquals(
                List.of(first, second),
                TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(2))).stream()
                        .sorted()
                        .toList());
        assertEquals(List.of(third), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(2))));
        assertFalse(client().freeWork());
        assertEquals(RunState.QUEUED, client().runOf(queued).state());
        DatabaseRows.RunRow claimed = client().reads.claimedRun(third);
        assertNotNull(claimed);
        assertEquals(1, TestStoreClient.claims(claimed));
    }

    @Test
    default void runs_read_together_equal_runs_read_one_by_one() {
        RunId used = client().fresh(client().key("K"));
        client().apply(client().append(used, 0, "[\"a\"]"));
        client().apply(client().append(used, 1, "[\"b\"]"));
        RunId runId = client().fresh();
        RunId gone = client().id();
        List<StoreQueries.JournaledRun> together = client().reads.runsWithJournal(List.of(runId, gone, used)).stream()
                .sorted(Comparator.comparing(read -> read.run().id()))
                .toList();
        assertEquals(List.of(each(used), each(runId)), together);
        assertEquals(List.of(), client().reads.runsWithJournal(List.of()));
        List<DatabaseRows.RunRow> heads = client().reads.runsWithoutJournal(List.of(runId, gone, used)).stream()
                .sorted(Comparator.comparing(DatabaseRows.RunRow::id))
                .toList();
        assertEquals(together.stream().map(StoreQueries.JournaledRun::run).toList(), heads);
        assertEquals(List.of(), client().reads.runsWithoutJournal(List.of()));
    }

    private StoreQueries.JournaledRun each(RunId id) {
        return new StoreQueries.JournaledRun(
                Objects.requireNonNull(client().reads.claimedRun(id)),
                client().reads.journal(id));
    }
}
