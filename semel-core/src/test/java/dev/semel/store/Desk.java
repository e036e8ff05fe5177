package dev.semel.store;

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

    Desk(Dialect dialect) {
        this(dialect.open());
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
        return new Write.Admit(run(id), List.of(wishes), true);
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
        return lane.apply(new Batch(hold, new ArrayList<>(writes)));
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

    List<String> journal(RunId run) {
        return reads.journal(run).stream().map(Reads.Chunk::entries).toList();
    }

    boolean freeWork() {
        return reads.nextDue() <= reads.now();
    }
}
