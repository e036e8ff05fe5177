package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.admission.TriggerSource;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A store as a lane sees it: a lease, a writer, a reader, and short words for what tests write. */
final class TestStoreClient implements AutoCloseable {
    static final long LEASE = 77;
    static final String WORKFLOW = "wf_one";
    static final long WINDOW = Duration.ofHours(24).toNanos() / 1_000;
    static final long TTL = Duration.ofSeconds(10).toNanos() / 1_000;

    final StoreFixture fixture;
    final WorkflowStore store;
    final WorkflowStore.BatchWriter lane;
    final StoreQueries reads;
    final WorkerLeases leases;
    final CommitBatch.LeaseSlot hold = new CommitBatch.LeaseSlot(LEASE, 0);
    final int ws;
    private long nextId = 1_000_000;
    private WorkflowStore.@Nullable BatchWriter txLane;

    TestStoreClient(Dialect dialect) {
        this(dialect.emptied());
    }

    TestStoreClient(StoreFixture place) {
        this.fixture = place;
        store = place.store();
        lane = store.openLane();
        reads = store.openQueries();
        leases = store.openLeases();
        leases.start(LEASE, "client", slots(), TTL);
        ws = workspace("one").ws();
        publish(ws, "one", WORKFLOW);
    }

    /** One for each lane, and one for each connection of the users' own transactions. */
    int slots() {
        return store.lanes() + store.txLanes();
    }

    DatabaseRows.WorkspaceRow workspace(String name) {
        return change(new StoreWriteCommand.CreateWorkspace(name, bytes("secret of " + name)));
    }

    DatabaseRows.WorkflowRow publish(int workspace, String name, String workflowId) {
        return change(new StoreWriteCommand.PublishVersion(workspace, name, workflowId, "body of " + name, "tester"));
    }

    RunId id() {
        return new RunId(++nextId, 7);
    }

    /** A request of its own by somebody. */
    StoreWriteCommand.ChangeAuthor by(String actor, String reason) {
        return new StoreWriteCommand.ChangeAuthor(id(), actor, reason);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A binding claim that holds while its run is unfinished. */
    RunDeduplicationKeyClaim key(String text) {
        return key(text, RunDeduplicationKeyRecord.HOLD);
    }

    RunDeduplicationKeyClaim key(String text, int flags) {
        return claim(RunDeduplicationKey.KeyKind.KEY, text, flags);
    }

    RunDeduplicationKeyClaim claim(RunDeduplicationKey.KeyKind kind, String text, int flags) {
        return new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(ws, kind, text), bytes("digest"), WINDOW, flags, true);
    }

    RunDeduplicationKeyClaim chosen(String runId) {
        return new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.RUN, runId),
                bytes("digest"),
                RunDeduplicationKeyClaim.FOREVER,
                RunDeduplicationKeyRecord.HOLD,
                true);
    }

    RunDeduplicationKeyClaim payload(String text, boolean binding) {
        return new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.PAYLOAD, text),
                bytes("digest"),
                WINDOW,
                RunDeduplicationKeyRecord.HOLD,
                binding);
    }

    NewRun run(RunId id) {
        return run(id, RunState.STARTED, null);
    }

    NewRun run(RunId id, RunState state, @Nullable String chosenId) {
        return new NewRun(
                id,
                ws,
                chosenId,
                WORKFLOW,
                1,
                state,
                new NewRun.TriggerOrigin(TriggerSource.HTTP, "actor", "the key", "the correlation"),
                "{\"a\":1}",
                bytes("fields"),
                NewRun.RunParentage.NONE,
                null);
    }

    StoreWrite.AdmitRun admit(RunId id, RunDeduplicationKeyClaim... claims) {
        return admit(run(id), List.of(claims), true);
    }

    /** A retry of a run that failed, in its line and behind the newest run of it. */
    StoreWrite.AdmitRun again(RunId id, RunId lineage, RunId newest, RunDeduplicationKeyClaim key) {
        NewRun run = linked(id, new NewRun.RunParentage(lineage, null, null), null, RunState.STARTED);
        return admit(
                run,
                List.of(key, claim(RunDeduplicationKey.KeyKind.REPLAY, newest.text(), RunDeduplicationKeyRecord.HOLD)),
                true);
    }

    /** As a caller asks who has just looked the workflow up. */
    StoreWrite.AdmitRun admit(NewRun run, List<RunDeduplicationKeyClaim> claims, boolean own) {
        return new StoreWrite.AdmitRun(run, claims, own, reads.catalogVersion());
    }

    /** Admits a run that must be fresh, and says which. */
    RunId fresh(RunDeduplicationKeyClaim... claims) {
        RunId id = id();
        StoreWrite.AdmitResult admitted = apply(admit(id, claims));
        if (!(admitted instanceof StoreWrite.AdmitResult.Fresh)) {
            throw new AssertionError("expected a fresh run, got " + admitted);
        }
        return id;
    }

    StoreWrite.EndRun end(RunId run) {
        return new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.COMPLETED,
                StoreWrite.RunResult.output("{\"ok\":true}"),
                "[]",
                List.of(),
                false);
    }

    StoreWrite.EndRun failed(RunId run) {
        return new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.FAILED,
                new StoreWrite.RunResult(null, "broken", "it broke", "pay"),
                "[]",
                List.of(),
                false);
    }

    StoreWrite.AppendJournal append(RunId run, int seq, String entries) {
        return new StoreWrite.AppendJournal(
                new StoreWrite.RunExecution(run, 1), seq, entries, RunState.RUNNING, List.of(), null);
    }

    /** What the first execution of a run does to the ledger, with nothing for its journal. */
    static StoreWrite.AppendJournal ops(RunId run, EffectLedger.LedgerOperation... ops) {
        return ops(new StoreWrite.RunExecution(run, 1), ops);
    }

    static StoreWrite.AppendJournal ops(StoreWrite.RunExecution by, EffectLedger.LedgerOperation... ops) {
        return new StoreWrite.AppendJournal(by, 0, "", RunState.RUNNING, List.of(ops), null);
    }

    /** Puts a run away until it is due, or until it has more than so many signals. */
    static StoreWrite.AppendJournal rest(StoreWrite.RunExecution by, long due, int signals) {
        var rest = new StoreWrite.Suspension(due, "{\"for\":\"time\"}", signals, false, false);
        return new StoreWrite.AppendJournal(by, 0, "", RunState.WAITING, List.of(), rest);
    }

    /** A trigger whose run goes through a gate. */
    StoreWrite.AdmitRun gated(RunId id, StartConditions conditions, RunDeduplicationKeyClaim... claims) {
        return admit(gatedRun(id, conditions, RunState.STARTED), List.of(claims), true);
    }

    NewRun gatedRun(RunId id, StartConditions conditions, RunState state) {
        return linked(id, NewRun.RunParentage.NONE, conditions, state);
    }

    NewRun linked(RunId id, NewRun.RunParentage links, @Nullable StartConditions conditions, RunState state) {
        NewRun run = run(id, state, null);
        return new NewRun(
                id,
                ws,
                null,
                WORKFLOW,
                1,
                state,
                run.origin(),
                "{\"id\":\"" + id + "\"}",
                run.fields(),
                links,
                conditions);
    }

    StoreWrite.DuplicateRequest seen(RunId run, boolean conflict, long times) {
        return new StoreWrite.DuplicateRequest(
                id(), ws, run, conflict, fixture.time(), conflict ? 422 : 200, "actor", null, times);
    }

    /** One write in a transaction of its own, under the lease. Repeated while the store says again, as a lane does. */
    <O> O apply(StoreWrite<O> write) {
        return applyAs(hold, write);
    }

    @SuppressWarnings("unchecked") // the store answers each write with the outcome of its own type
    <O> O applyAs(CommitBatch.@Nullable LeaseSlot as, StoreWrite<O> write) {
        Object outcome = lane.apply(new CommitBatch(as, List.of(write))).getFirst();
        boolean undecided =
                outcome instanceof StoreWrite.AdmitResult.RetryNextBatch || outcome == StoreWrite.Deferred.DEFERRED;
        return undecided ? applyAs(as, write) : (O) outcome;
    }

    List<Object> applyAll(StoreWrite<?>... writes) {
        return applyAll(Arrays.asList(writes));
    }

    List<Object> applyAll(List<? extends StoreWrite<?>> writes) {
        return new ArrayList<>(lane.apply(new CommitBatch(hold, new ArrayList<>(writes))));
    }

    /** A transaction of the user, where the store does them: on a connection of its own, or in the lane. */
    StoreWrite.TransactionResult tx(StoreWrite.UserTransaction tx) {
        return txAs(new CommitBatch.LeaseSlot(LEASE, store.txLanes() == 0 ? 0 : store.lanes()), tx);
    }

    StoreWrite.TransactionResult txAs(CommitBatch.@Nullable LeaseSlot as, StoreWrite.UserTransaction tx) {
        if (store.txLanes() == 0) {
            return applyAs(as, tx);
        }
        if (txLane == null) {
            txLane = store.openTxLane();
        }
        return (StoreWrite.TransactionResult)
                txLane.apply(new CommitBatch(as, List.of(tx))).getFirst();
    }

    /** Applies what is deferred again, as a lane does, until every write has its answer. */
    List<Object> decided(StoreWrite<?>... writes) {
        List<Object> outcomes = applyAll(writes);
        for (int i = 0; i < writes.length; i++) {
            Object outcome = outcomes.get(i);
            if (outcome instanceof StoreWrite.AdmitResult.RetryNextBatch || outcome == StoreWrite.Deferred.DEFERRED) {
                outcomes.set(i, apply(writes[i]));
            }
        }
        return outcomes;
    }

    <T> T change(StoreWriteCommand<T> edit) {
        return apply(new StoreWrite.ExecuteCommand<>(edit));
    }

    @Nullable
    RunDeduplicationKeyRecord holder(RunDeduplicationKeyClaim claim) {
        return reads.findKeys(List.of(claim.key())).keyRecords().getFirst();
    }

    DatabaseRows.RunRow runOf(RunId id) {
        DatabaseRows.RunRow run = reads.run(ws, id);
        if (run == null) {
            throw new AssertionError("there is no run " + id);
        }
        return run;
    }

    /** Closes, but first looks whether what was written fits together. */
    @Override
    public void close() {
        try {
            Invariants.check(fixture);
        } finally {
            abandon();
        }
    }

    /** For tests that tampered with the rows. */
    void abandon() {
        reads.close();
        lane.close();
        if (txLane != null) {
            txLane.close();
        }
        leases.close();
        store.close();
        fixture.close();
    }

    /** The runs that a claim took. */
    static List<RunId> runs(List<StoreWrite.RunExecution> claimed) {
        return claimed.stream().map(StoreWrite.RunExecution::run).toList();
    }

    static int claims(DatabaseRows.RunRow run) {
        return java.util.Objects.requireNonNull(run.progress()).claims();
    }

    DatabaseRows.RunProgress work(RunId run) {
        DatabaseRows.RunProgress work = runOf(run).progress();
        if (work == null) {
            throw new AssertionError("run " + run + " is not at work");
        }
        return work;
    }

    /** The runs that nobody drives and that are due, taken up in order. */
    List<StoreWrite.RunExecution> claim() {
        return apply(new StoreWrite.ClaimRuns(100)).stream()
                .sorted(java.util.Comparator.comparing(StoreWrite.RunExecution::run))
                .toList();
    }

    StoreWrite.EndRun end(StoreWrite.RunExecution by, EffectLedger.LedgerOperation... ops) {
        return new StoreWrite.EndRun(
                by, RunState.COMPLETED, StoreWrite.RunResult.output("{}"), "[]", List.of(ops), false);
    }

    List<String> journal(RunId run) {
        return reads.journal(run).stream()
                .map(StoreQueries.JournalChunk::entries)
                .toList();
    }

    boolean freeWork() {
        return reads.nextDue() <= reads.now();
    }
}
