package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.trigger.Door;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A store as a lane sees it: a lease, a writer, a reader, and short words for what tests write. */
final class Desk implements AutoCloseable {
    static final long LEASE = 77;
    static final String WORKFLOW = "wf_one";
    static final long WINDOW = Duration.ofHours(24).toNanos() / 1_000;
    static final long TTL = Duration.ofSeconds(10).toNanos() / 1_000;

    final Place place;
    final Store store;
    final Lane lane;
    final Reads reads;
    final Leases leases;
    final Batch.Hold hold = new Batch.Hold(LEASE, 0);
    final int ws;
    private long nextId = 1_000_000;
    private @Nullable Lane txLane;

    Desk(Dialect dialect) {
        this(dialect.emptied());
    }

    Desk(Place place) {
        this.place = place;
        store = place.store();
        lane = store.openLane();
        reads = store.openReads();
        leases = store.openLeases();
        leases.start(LEASE, "desk", slots(), TTL);
        ws = workspace("one").ws();
        publish(ws, "one", WORKFLOW);
    }

    /** One for each lane, and one for each connection of the users' own transactions. */
    int slots() {
        return store.lanes() + store.txLanes();
    }

    Rows.Workspace workspace(String name) {
        return change(new Edit.OpenWorkspace(name, bytes("secret of " + name)));
    }

    Rows.Workflow publish(int workspace, String name, String workflowId) {
        return change(new Edit.Publish(workspace, name, workflowId, "body of " + name, "tester"));
    }

    RunId id() {
        return new RunId(++nextId, 7);
    }

    /** A request of its own by somebody. */
    Edit.By by(String actor, String reason) {
        return new Edit.By(id(), actor, reason);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A binding wish that holds while its run is unfinished. */
    Wish key(String text) {
        return key(text, Known.HOLD);
    }

    Wish key(String text, int flags) {
        return wish(Name.Kind.KEY, text, flags);
    }

    Wish wish(Name.Kind kind, String text, int flags) {
        return new Wish(new Name(ws, kind, text), bytes("digest"), WINDOW, flags, true);
    }

    Wish chosen(String runId) {
        return new Wish(new Name(ws, Name.Kind.RUN, runId), bytes("digest"), Wish.FOREVER, Known.HOLD, true);
    }

    Wish payload(String text, boolean binding) {
        return new Wish(new Name(ws, Name.Kind.PAYLOAD, text), bytes("digest"), WINDOW, Known.HOLD, binding);
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
                new NewRun.Origin(Door.HTTP, "actor", "the key", "the correlation"),
                "{\"a\":1}",
                bytes("fields"));
    }

    Write.Admit admit(RunId id, Wish... wishes) {
        return admit(run(id), List.of(wishes), true);
    }

    /** A retry of a run that failed, in its line and behind the newest run of it. */
    Write.Admit again(RunId id, RunId lineage, RunId newest, Wish key) {
        NewRun run = linked(id, new NewRun.Links(lineage, null, null), null, RunState.STARTED);
        return admit(run, List.of(key, wish(Name.Kind.REPLAY, newest.text(), Known.HOLD)), true);
    }

    /** As a caller asks who has just looked the workflow up. */
    Write.Admit admit(NewRun run, List<Wish> wishes, boolean own) {
        return new Write.Admit(run, wishes, own, reads.catalogChange());
    }

    /** Admits a run that must be fresh, and says which. */
    RunId fresh(Wish... wishes) {
        RunId id = id();
        Write.Admitted admitted = apply(admit(id, wishes));
        if (!(admitted instanceof Write.Admitted.Fresh)) {
            throw new AssertionError("expected a fresh run, got " + admitted);
        }
        return id;
    }

    Write.End end(RunId run) {
        return new Write.End(run, RunState.COMPLETED, Write.Ending.output("{\"ok\":true}"), "[]");
    }

    Write.End failed(RunId run) {
        return new Write.End(run, RunState.FAILED, new Write.Ending(null, "broken", "it broke", "pay"), "[]");
    }

    Write.Append append(RunId run, int seq, String entries) {
        return new Write.Append(run, seq, entries, RunState.RUNNING);
    }

    /** What the first execution of a run does to the ledger, with nothing for its journal. */
    static Write.Append ops(RunId run, Ledger.Op... ops) {
        return ops(new Write.Driver(run, 1), ops);
    }

    static Write.Append ops(Write.Driver by, Ledger.Op... ops) {
        return new Write.Append(by, 0, "", RunState.RUNNING, List.of(ops), null);
    }

    /** Puts a run away until it is due, or until it has more than so many signals. */
    static Write.Append rest(Write.Driver by, long due, int signals) {
        var rest = new Write.Rest(due, "{\"for\":\"time\"}", signals);
        return new Write.Append(by, 0, "", RunState.WAITING, List.of(), rest);
    }

    /** A trigger whose run goes through a gate. */
    Write.Admit gated(RunId id, NewRun.Gate gate, Wish... wishes) {
        return admit(gatedRun(id, gate, RunState.STARTED), List.of(wishes), true);
    }

    NewRun gatedRun(RunId id, NewRun.Gate gate, RunState state) {
        return linked(id, NewRun.Links.NONE, gate, state);
    }

    NewRun linked(RunId id, NewRun.Links links, NewRun.@Nullable Gate gate, RunState state) {
        NewRun run = run(id, state, null);
        return new NewRun(
                id, ws, null, WORKFLOW, 1, state, run.origin(), "{\"id\":\"" + id + "\"}", run.fields(), links, gate);
    }

    Write.Seen seen(RunId run, boolean conflict, long times) {
        return new Write.Seen(id(), ws, run, conflict, place.time(), conflict ? 422 : 200, "actor", null, times);
    }

    /** One write in a transaction of its own, under the lease. Repeated while the store says again, as a lane does. */
    <O> O apply(Write<O> write) {
        return applyAs(hold, write);
    }

    @SuppressWarnings("unchecked") // the store answers each write with the outcome of its own type
    <O> O applyAs(Batch.@Nullable Hold as, Write<O> write) {
        Object outcome = lane.apply(new Batch(as, List.of(write))).getFirst();
        boolean undecided = outcome instanceof Write.Admitted.Again || outcome == Write.Deferred.DEFERRED;
        return undecided ? applyAs(as, write) : (O) outcome;
    }

    List<Object> applyAll(Write<?>... writes) {
        return applyAll(Arrays.asList(writes));
    }

    List<Object> applyAll(List<? extends Write<?>> writes) {
        return new ArrayList<>(lane.apply(new Batch(hold, new ArrayList<>(writes))));
    }

    /** A transaction of the user, where the store does them: on a connection of its own, or in the lane. */
    Write.TxOutcome tx(Write.Tx tx) {
        return txAs(new Batch.Hold(LEASE, store.txLanes() == 0 ? 0 : store.lanes()), tx);
    }

    Write.TxOutcome txAs(Batch.@Nullable Hold as, Write.Tx tx) {
        if (store.txLanes() == 0) {
            return applyAs(as, tx);
        }
        if (txLane == null) {
            txLane = store.openTxLane();
        }
        return (Write.TxOutcome) txLane.apply(new Batch(as, List.of(tx))).getFirst();
    }

    /** Applies what is deferred again, as a lane does, until every write has its answer. */
    List<Object> decided(Write<?>... writes) {
        List<Object> outcomes = applyAll(writes);
        for (int i = 0; i < writes.length; i++) {
            Object outcome = outcomes.get(i);
            if (outcome instanceof Write.Admitted.Again || outcome == Write.Deferred.DEFERRED) {
                outcomes.set(i, apply(writes[i]));
            }
        }
        return outcomes;
    }

    <T> T change(Edit<T> edit) {
        return apply(new Write.Change<>(edit));
    }

    @Nullable
    Known holder(Wish wish) {
        return reads.names(List.of(wish.name())).known().getFirst();
    }

    Rows.Run runOf(RunId id) {
        Rows.Run run = reads.run(ws, id);
        if (run == null) {
            throw new AssertionError("there is no run " + id);
        }
        return run;
    }

    /** Closes, but first looks whether what was written fits together. */
    @Override
    public void close() {
        try {
            Invariants.check(place);
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
        place.close();
    }

    /** The runs that a claim took. */
    static List<RunId> runs(List<Write.Driver> claimed) {
        return claimed.stream().map(Write.Driver::run).toList();
    }

    static int claims(Rows.Run run) {
        return java.util.Objects.requireNonNull(run.work()).claims();
    }

    Rows.Work work(RunId run) {
        Rows.Work work = runOf(run).work();
        if (work == null) {
            throw new AssertionError("run " + run + " is not at work");
        }
        return work;
    }

    /** The runs that nobody drives and that are due, taken up in order. */
    List<Write.Driver> claim() {
        return apply(new Write.Claim(100)).stream()
                .sorted(java.util.Comparator.comparing(Write.Driver::run))
                .toList();
    }

    Write.End end(Write.Driver by, Ledger.Op... ops) {
        return new Write.End(by, RunState.COMPLETED, Write.Ending.output("{}"), "[]", List.of(ops));
    }

    List<String> journal(RunId run) {
        return reads.journal(run).stream().map(Reads.Chunk::entries).toList();
    }

    boolean freeWork() {
        return reads.nextDue() <= reads.now();
    }
}
