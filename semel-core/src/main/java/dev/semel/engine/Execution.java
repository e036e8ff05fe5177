package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.run.RunState;
import dev.semel.store.Reads;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a run on this worker: its replayed journal, its pending writes, and whether it may continue.
 * All branches share it. Results are submitted at once or with the next write; effects wait until all earlier writes
 * are durable.
 */
final class Execution {
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RunLoop.Resident run;
    private final RunLoop.Engine engine;
    private final @Nullable Long lease;
    private final Memory memory;
    private final Waits waits;
    private final Undos undos = new Undos();
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Entry> pending = new ArrayList<>();
    private final List<Ledger.Op> pendingOps = new ArrayList<>();
    private final List<CompletableFuture<Write.Owned>> submitted = new ArrayList<>();
    private final Set<String> requestedPaths = ConcurrentHashMap.newKeySet();
    private final Set<String> taken = ConcurrentHashMap.newKeySet();
    private int pendingBytes;
    private boolean hadFailure;
    private int nextSeq;
    private int turn;
    private volatile int signalsSeen;
    private volatile boolean cancel;
    private volatile @Nullable Unwind over;
    private volatile String current = "";

    final LineRows line = new LineRows(this);
    /** Called on the thread of the body if its code ignores the end of the execution. */
    volatile Runnable leftBehind = () -> {};

    Execution(RunLoop.Resident run, RunLoop.Engine engine, List<Reads.Chunk> chunks) {
        this.run = run;
        this.engine = engine;
        this.lease = engine.committer().lease();
        this.memory = new Memory(Earlier.entries(chunks));
        this.hadFailure = memory.stumbled();
        taken.addAll(memory.takenSignals());
        this.nextSeq = chunks.isEmpty() ? 0 : chunks.getLast().seq() + 1;
        this.waits = new Waits(() -> engine.readers().ask(reads -> reads.now()));
        this.cancel = run.cancel();
    }

    RunLoop.Resident run() {
        return run;
    }

    RunLoop.Engine engine() {
        return engine;
    }

    Memory memory() {
        return memory;
    }

    Undos undos() {
        return undos;
    }

    Waits waits() {
        return waits;
    }

    long storeNow() {
        return ask(reads -> reads.now());
    }

    /** Runs a query that always has a result. */
    <T> T ask(Function<Reads, T> question) {
        return Objects.requireNonNull(maybe(question::apply));
    }

    /** Runs a query and retries while the lease is valid: user code must not see an unavailable store as a failure. */
    <T> @Nullable T maybe(Function<Reads, @Nullable T> question) {
        for (int tries = 0; ; tries++) {
            try {
                return engine.readers().maybe(question);
            } catch (StoreFailure e) {
                mayAct();
                LockSupport.parkNanos(FIRST_PAUSE_NANOS << Math.min(tries, 5));
            }
        }
    }

    Ambient ambient() {
        return engine.around().ambient();
    }

    Counters counters() {
        return engine.around().counters();
    }

    /** The step that the workflow calls now, for error reports. */
    void current(String path) {
        current = path;
    }

    String current() {
        return current;
    }

    /** Returns false if this execution called the path before. */
    boolean asks(String path) {
        return requestedPaths.add(path);
    }

    /** Returns a recorded path that the code never called, or null. */
    @Nullable
    String leftOver() {
        return memory.leftOver(requestedPaths);
    }

    /** Returns false if another branch took that signal. */
    boolean takeSignal(String id) {
        return taken.add(id);
    }

    boolean isTaken(String id) {
        return taken.contains(id);
    }

    /** Number of signals at the last read. A parked run becomes due at once if the store has more. */
    void sawSignals(int count) {
        signalsSeen = Math.max(signalsSeen, count);
    }

    int signalsSeen() {
        return signalsSeen;
    }

    private int locked(IntSupplier work) {
        lock.lock();
        try {
            return work.getAsInt();
        } finally {
            lock.unlock();
        }
    }

    int nextTurn() {
        return locked(() -> ++turn);
    }

    /** Marks the run as cancelled and wakes all branches. */
    void cancel() {
        waits.wake(() -> cancel = true);
    }

    boolean cancelled() {
        return cancel;
    }

    /** Rethrows what ended this execution, if it has ended. */
    void goOn() {
        Unwind reason = over;
        if (reason != null) {
            throw reason;
        }
    }

    /** Returns what ended this execution, even if user code swallowed the error; null while it continues. */
    @Nullable
    Unwind over() {
        return over;
    }

    /** Ends this execution: nothing it does counts from here on. */
    <U extends Unwind> U end(U reason) {
        if (over == null) {
            over = reason;
        }
        waits.putAway();
        return reason;
    }

    /** Adds an entry to the journal. The next write makes it durable. */
    void record(Entry entry, int bytes, Ledger.Op... ops) {
        lock.lock();
        try {
            pending.add(entry);
            hadFailure |= entry instanceof Entry.Tried || entry instanceof Entry.Failed;
            pendingOps.addAll(List.of(ops));
            pendingBytes += bytes + entry.path().length() + 64;
            Limits limits = engine.limits();
            if (pending.size() >= limits.bufferedEntries() || pendingBytes >= limits.bufferedBytes()) {
                var unused = submit(List.of());
            }
        } finally {
            lock.unlock();
        }
        if (unacknowledged() >= engine.limits().bufferedEntries()) {
            durable();
        }
    }

    /** Adds a ledger operation without a journal entry. The next write makes it durable. */
    void note(Ledger.Op op) {
        lock.lock();
        try {
            pendingOps.add(op);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Submits pending effect outcomes before slow work, without waiting, so that a crash does not put them in doubt.
     */
    void flush() {
        lock.lock();
        try {
            if (!pendingOps.isEmpty()) {
                var unused = submit(List.of());
            }
        } finally {
            lock.unlock();
        }
    }

    private int unacknowledged() {
        return locked(() -> submitted.size());
    }

    private CompletableFuture<Write.Owned> submit(List<Ledger.Op> ops) {
        Write.Append append = append(ops, RunState.RUNNING, null);
        CompletableFuture<Write.Owned> answer = engine.committer().submit(run.lane(), append);
        submitted.add(answer);
        return answer;
    }

    private Write.Append append(List<Ledger.Op> ops, RunState state, Write.@Nullable Rest rest) {
        List<Ledger.Op> all = new ArrayList<>(pendingOps);
        all.addAll(ops);
        boolean none = pending.isEmpty();
        Write.Append append = new Write.Append(
                run.driver(), none ? 0 : nextSeq++, none ? "" : Journal.encode(pending), state, all, rest);
        pending.clear();
        pendingOps.clear();
        pendingBytes = 0;
        return append;
    }

    /** Takes a journal sequence number for a separate write. */
    int takeSeq() {
        return locked(() -> nextSeq++);
    }

    /** Submits all pending entries and waits until everything of this run is durable. */
    void durable() {
        lock.lock();
        try {
            if (pending.isEmpty() && pendingOps.isEmpty() && submitted.isEmpty()) {
                return;
            }
            if (!pending.isEmpty() || !pendingOps.isEmpty()) {
                var unused = submit(List.of());
            }
        } finally {
            lock.unlock();
        }
        settle();
    }

    /** Reserves an effect in the ledger. Returns when everything of this run is durable. */
    Ledger.Verdict reserve(Ledger.Reserve reserve) {
        CompletableFuture<Write.Owned> answer;
        lock.lock();
        try {
            answer = submit(List.of(reserve));
        } finally {
            lock.unlock();
        }
        settle();
        return joined(answer).verdicts().getLast();
    }

    private void settle() {
        List<CompletableFuture<Write.Owned>> open;
        lock.lock();
        try {
            open = List.copyOf(submitted);
        } finally {
            lock.unlock();
        }
        counters().diskWaits.increment();
        for (CompletableFuture<Write.Owned> write : open) {
            check(joined(write));
        }
        lock.lock();
        try {
            submitted.removeAll(open);
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a write. A failed write is not a failure of the run, so user code must not see it. */
    <O> O joined(CompletableFuture<O> write) {
        try {
            return write.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof StoreFailure.Poisoned) {
                throw end(new Unwind.Held(
                        "store",
                        "The store rejected the result of \"" + current
                                + "\". It is not recorded and the run is held. Find the value that the store"
                                + " cannot hold, correct the code, then continue the run."));
            }
            throw end(new Unwind.Lost(cause));
        }
    }

    void check(Write.Owned owned) {
        if (!owned.recorded()) {
            throw end(new Unwind.NotOurs());
        }
        if (owned.cancel() && !cancel) {
            cancel();
        }
    }

    /** Checks that this worker may still act: it stops before its lease expires by any clock. */
    void mayAct() {
        goOn();
        ambient().alive();
        if (lease == null
                || !lease.equals(engine.committer().lease())) { // a run is lost together with the lease of its claim
            throw end(new Unwind.NotOurs());
        }
    }

    /** Parks the run with all pending entries. */
    void rest(RunState state, Write.Rest rest) {
        Write.Append append;
        lock.lock();
        try {
            if (over instanceof Unwind.Held held && held.reason().equals("store")) {
                pending.clear(); // they would follow a gap in the journal
                pendingOps.clear();
            }
            append = append(List.of(), state, rest);
        } finally {
            lock.unlock();
        }
        counters().diskWaits.increment();
        Write.Owned owned = joined(engine.committer().submit(run.lane(), append));
        if (!owned.recorded()) {
            throw end(new Unwind.NotOurs());
        }
    }

    /** Builds the last write of the run, with all pending entries. */
    Write.End ending(RunState state, Write.Ending ending) {
        lock.lock();
        try {
            return new Write.End(
                    run.driver(), state, ending, Journal.encode(pending), List.copyOf(pendingOps), hadFailure);
        } finally {
            lock.unlock();
        }
    }

    /** Waits for submitted writes; the last write of a run comes after all others. */
    void settled() {
        if (unacknowledged() > 0) {
            settle();
        }
    }
}
