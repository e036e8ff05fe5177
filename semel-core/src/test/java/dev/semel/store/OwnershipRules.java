package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Only the lease that drives a run writes about it. */
interface OwnershipRules {
    TestStoreClient desk();

    @Test
    default void an_owner_writes_its_journal_in_order_and_its_end() {
        RunId run = desk().fresh(desk().key("K"));
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(desk().append(run, 0, "[\"a\"]")));
        assertEquals(RunState.RUNNING, desk().runOf(run).state());
        assertEquals(
                List.of(OwnerWriteResult.RECORDED, OwnerWriteResult.RECORDED),
                desk().applyAll(desk().append(run, 1, "[\"b\"]"), desk().append(run, 2, "[\"ü€😀\"]")));
        assertEquals(List.of("[\"a\"]", "[\"b\"]", "[\"ü€😀\"]"), desk().journal(run));
        desk().fixture.setTime(StoreFixture.START + 5);
        var end = new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.COMPLETED,
                StoreWrite.RunResult.output("{\"ok\":true}"),
                "[\"rest\"]",
                List.of(),
                false);
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(end));
        DatabaseRows.RunRow ended = desk().runOf(run);
        assertEquals(RunState.COMPLETED, ended.state());
        assertEquals(new DatabaseRows.RunEnd(StoreFixture.START + 5, end.result(), "[\"rest\"]"), ended.end());
        assertEquals(0, desk().reads.countUnfinished());
    }

    @Test
    default void a_failed_end_stores_code_message_and_step() {
        RunId run = desk().fresh();
        desk().apply(desk().failed(run));
        DatabaseRows.RunRow ended = desk().runOf(run);
        assertEquals(RunState.FAILED, ended.state());
        DatabaseRows.RunEnd end = ended.end();
        assertNotNull(end);
        assertEquals(new StoreWrite.RunResult(null, "broken", "it broke", "pay"), end.result());
    }

    @Test
    default void a_worker_that_does_not_own_the_run_writes_nothing_about_it() {
        RunId mine = desk().fresh();
        RunId free = desk().id();
        desk().apply(desk().admit(desk().run(free), List.of(), false));
        RunId unknown = desk().id();
        assertEquals(
                List.of(
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.FENCED,
                        OwnerWriteResult.RECORDED),
                desk().applyAll(
                                desk().append(free, 0, "[1]"),
                                desk().end(free),
                                desk().append(unknown, 0, "[1]"),
                                desk().end(unknown),
                                desk().append(mine, 0, "[1]")));
        assertEquals(1, desk().fixture.count("semel_journal"));
        assertEquals(0, desk().fixture.count("semel_finished_run"));
        assertEquals(RunState.STARTED, desk().runOf(free).state());
    }

    @Test
    default void without_a_lease_no_run_is_owned() {
        RunId mine = desk().fresh();
        assertEquals(OwnerWriteResult.FENCED, desk().applyAs(null, desk().append(mine, 0, "[1]")));
        assertEquals(OwnerWriteResult.FENCED, desk().applyAs(null, desk().end(mine)));
        assertEquals(RunState.STARTED, desk().runOf(mine).state());
        desk().apply(desk().end(mine));
        assertEquals(OwnerWriteResult.FENCED, desk().applyAs(null, desk().end(mine)), "nor claims an end as its own");
    }

    @Test
    default void a_batch_under_a_lost_lease_is_fenced_completely() {
        desk().leases.end(TestStoreClient.LEASE);
        assertThrows(StoreFailure.Fenced.class, () -> desk().apply(desk().admit(desk().id(), desk().key("K"))));
        assertEquals(0, desk().fixture.count("semel_run"));
        assertEquals(0, desk().fixture.count("semel_key"));
    }

    @Test
    default void a_slot_that_the_lease_never_had_is_fenced() {
        var beyond = new CommitBatch.LeaseSlot(TestStoreClient.LEASE, desk().slots());
        assertThrows(StoreFailure.Fenced.class, () -> desk().applyAs(beyond, new StoreWrite.ClaimRuns(1)));
        var other = new CommitBatch.LeaseSlot(TestStoreClient.LEASE + 1, 0);
        assertThrows(StoreFailure.Fenced.class, () -> desk().applyAs(other, new StoreWrite.ClaimRuns(1)));
    }

    @Test
    default void a_fenced_lane_continues_under_a_new_lease() {
        RunId run = desk().fresh();
        desk().leases.end(TestStoreClient.LEASE);
        assertThrows(StoreFailure.Fenced.class, () -> TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(1))));
        desk().leases.start(78, "desk", desk().slots(), TestStoreClient.TTL);
        assertEquals(
                List.of(run),
                TestStoreClient.runs(desk().applyAs(new CommitBatch.LeaseSlot(78, 0), new StoreWrite.ClaimRuns(1))));
    }

    @Test
    default void a_returned_lease_frees_its_runs_immediately() {
        RunId run = desk().fresh();
        assertFalse(desk().freeWork());
        desk().leases.end(TestStoreClient.LEASE);
        assertTrue(desk().freeWork());
        assertFalse(desk().leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL), "it is never taken up again");
        desk().leases.start(78, "desk", desk().slots(), TestStoreClient.TTL);
        var hold = new CommitBatch.LeaseSlot(78, 0);
        assertEquals(List.of(run), TestStoreClient.runs(desk().applyAs(hold, new StoreWrite.ClaimRuns(5))));
        assertEquals(2, TestStoreClient.claims(desk().runOf(run)));
        assertEquals(
                OwnerWriteResult.RECORDED,
                desk().applyAs(
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
        assertTrue(desk().leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(0, desk().leases.takeOverExpired(0));
        desk().fresh();
    }

    @Test
    default void a_worker_does_not_take_over_its_own_expired_lease() {
        RunId run = desk().fresh();
        desk().fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
        assertEquals(0, desk().leases.takeOverExpired(TestStoreClient.LEASE));
        assertTrue(desk().leases.renew(TestStoreClient.LEASE, TestStoreClient.TTL));
        assertEquals(OwnerWriteResult.RECORDED, desk().apply(desk().append(run, 0, "[1]")));
    }

    @Test
    default void a_claim_takes_the_oldest_free_runs_up_to_its_limit() {
        RunId queued = desk().id();
        RunId first = desk().id();
        RunId second = desk().id();
        RunId third = desk().id();
        desk().fresh();
        desk().applyAll(
                        desk().admit(desk().run(third), List.of(), false),
                        desk().admit(desk().run(first), List.of(), false),
                        desk().admit(desk().run(queued, RunState.QUEUED, null), List.of(), false),
                        desk().admit(desk().run(second), List.of(), false));
        assertEquals(
                List.of(first, second),
                TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(2))).stream()
                        .sorted()
                        .toList());
        assertEquals(List.of(third), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(2))));
        assertFalse(desk().freeWork());
        assertEquals(RunState.QUEUED, desk().runOf(queued).state());
        DatabaseRows.RunRow claimed = desk().reads.claimedRun(third);
        assertNotNull(claimed);
        assertEquals(1, TestStoreClient.claims(claimed));
    }

    @Test
    default void runs_read_together_equal_runs_read_one_by_one() {
        RunId used = desk().fresh(desk().key("K"));
        desk().apply(desk().append(used, 0, "[\"a\"]"));
        desk().apply(desk().append(used, 1, "[\"b\"]"));
        RunId runId = desk().fresh();
        RunId gone = desk().id();
        List<StoreQueries.JournaledRun> together = desk().reads.runsWithJournal(List.of(runId, gone, used)).stream()
                .sorted(Comparator.comparing(read -> read.run().id()))
                .toList();
        assertEquals(List.of(each(used), each(runId)), together);
        assertEquals(List.of(), desk().reads.runsWithJournal(List.of()));
        List<DatabaseRows.RunRow> heads = desk().reads.runsWithoutJournal(List.of(runId, gone, used)).stream()
                .sorted(Comparator.comparing(DatabaseRows.RunRow::id))
                .toList();
        assertEquals(together.stream().map(StoreQueries.JournaledRun::run).toList(), heads);
        assertEquals(List.of(), desk().reads.runsWithoutJournal(List.of()));
    }

    private StoreQueries.JournaledRun each(RunId id) {
        return new StoreQueries.JournaledRun(
                Objects.requireNonNull(desk().reads.claimedRun(id)),
                desk().reads.journal(id));
    }
}
