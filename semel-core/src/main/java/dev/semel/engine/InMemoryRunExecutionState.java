package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.run.RunState;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Shared by all branches. Results are submitted at once or with the next write; effects wait for durability. */
final class InMemoryRunExecutionState {
    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RunExecutor.ActiveRun run;
    private final RunExecutor.RunDependencies engine;
    private final @Nullable Long lease;
    private final RunJournalStepIndex journal;
    private final WaitingBranchesRunSuspender waits;
    private final RunSizeMeter size;
    private final CompensationStack compensations = new CompensationStack();
    private final ReentrantLock lock = new ReentrantLock();
    private final List<JournalEntry> pending = new ArrayList<>();
    private final List<EffectLedger.LedgerOperation> pendingOps = new ArrayList<>();
    private final List<CompletableFuture<StoreWrite.OwnerWriteResult>> submitted = new ArrayList<>();
    private final Set<String> requestedPaths = ConcurrentHashMap.newKeySet();
    private final Set<String> taken = ConcurrentHashMap.newKeySet();
    private final SignalInbox signalInbox = new SignalInbox(this);
    private int pendingBytes;
    private boolean hadFailure;
    private int nextSeq;
    private int turn;
    private volatile int signalsSeen;
    private volatile boolean cancel;
    private volatile @Nullable RunExecutionAbort endReason;
    private volatile String currentStep = "";

    final PreviousRunEffectIndex lineageRows = new PreviousRunEffectIndex(this);
    /** Called on the thread of the body if its code ignores the end of the execution. */
    volatile Runnable onAbandoned = () -> {};

    InMemoryRunExecutionState(
            RunExecutor.ActiveRun run,
            RunExecutor.RunDependencies engine,
            List<StoreQueries.JournalChunk> chunks,
            ActiveRunMemory.Share memory) {
        this.run = run;
        this.engine = engine;
        this.lease = engine.committer().lease();
        this.journal = new RunJournalStepIndex(PreviousRunResultFinder.decode(chunks));
        this.size = new RunSizeMeter(
                run.runId(),
                memory,
                engine.limits().runSize(),
                journal.steps().size(),
                chunks.stream().mapToLong(chunk -> chunk.entries().length()).sum());
        this.hadFailure = journal.hadFailedAttempt();
        taken.addAll(journal.consumedSignals());
        this.nextSeq = chunks.isEmpty() ? 0 : chunks.getLast().seq() + 1;
        this.waits = new WaitingBranchesRunSuspender(() -> engine.readers().read(reads -> reads.now()));
        this.cancel = run.cancelRequested();
    }

    RunExecutor.ActiveRun run() {
        return run;
    }

    RunExecutor.RunDependencies engine() {
        return engine;
    }

    RunJournalStepIndex journal() {
        return journal;
    }

    RunSizeMeter size() {
        return size;
    }

    CompensationStack compensations() {
        return compensations;
    }

    WaitingBranchesRunSuspender waits() {
        return waits;
    }

    long storeNow() {
        return read(reads -> reads.now());
    }

    /** Runs a query that always has a result. */
    <T> T read(Function<StoreQueries, T> question) {
        return Objects.requireNonNull(readNullable(question::apply));
    }

    /** Runs a query and retries while the lease is valid: user code must not see an unavailable store as a failure. */
    <T> @Nullable T readNullable(Function<StoreQueries, @Nullable T> question) {
        for (int tries = 0; ; tries++) {
            try {
                return engine.readers().readNullable(question);
            } catch (StoreFailure.ValueRejected e) {
                throw e; // no retry helps
            } catch (StoreFailure e) {
                checkMayAct();
                LockSupport.parkNanos(FIRST_PAUSE_NANOS << Math.min(tries, 5));
            }
        }
    }

    /** The secret that keys the hashes of this run's workspace. */
    byte[] workspaceSecret() {
        return engine.secrets().find(run.workspace(), this::readNullable);
    }

    ClockAndRandomSource ambient() {
        return engine.dependencies().environment();
    }

    EngineMetricCounters counters() {
        return engine.dependencies().counters();
    }

    /** The step that the workflow calls now, for error reports. */
    void currentStep(String path) {
        currentStep = path;
    }

    String currentStep() {
        return currentStep;
    }

    /** Returns false if this execution called the path before. */
    boolean markRequested(String path) {
        return requestedPaths.add(path);
    }

    /** Returns a recorded path that the code never called, or null. */
    @Nullable
    String findUnrequestedPath() {
        return journal.firstUnvisited(requestedPaths);
    }

    /** Returns false if another branch took that signal. */
    boolean takeSignal(String id) {
        return taken.add(id);
    }

    boolean isTaken(String id) {
        return taken.contains(id);
    }

    /** Returns the looks of one wait for a signal. */
    SignalInbox.SignalSearch searchSignals() {
        return signalInbox.new SignalSearch();
    }

    SignalInbox signalInbox() {
        return signalInbox;
    }

    /** Number of signals at the last read. A parked run becomes due at once if the store has more. */
    void noteSignalCount(int count) {
        signalsSeen = Math.max(signalsSeen, count);
    }

    int signalsSeen() {
        return signalsSeen;
    }

    private <T> T locked(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
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
    void throwIfEnded() {
        RunExecutionAbort reason = endReason;
        if (reason != null) {
            throw reason;
        }
    }

    /** Returns what ended this execution, even if user code swallowed the error; null while it continues. */
    @Nullable
    RunExecutionAbort endReason() {
        return endReason;
    }

    /** Ends this execution: nothing it does counts from here on. */
    <U extends RunExecutionAbort> U end(U reason) {
        if (endReason == null) {
            endReason = reason;
        }
        waits.park();
        return reason;
    }

    /** Adds an entry to the journal. The next write makes it durable. */
    void record(JournalEntry entry, int bytes, EffectLedger.LedgerOperation... ops) {
        lock.lock();
        try {
            pending.add(entry);
            hadFailure |= entry instanceof JournalEntry.AttemptFailure || entry instanceof JournalEntry.StepFailure;
            pendingOps.addAll(List.of(ops));
            int added = bytes + entry.path().length() + 64;
            size.addBytes(added);
            pendingBytes += added;
            EngineLimits limits = engine.limits();
            if (pending.size() >= limits.bufferedEntries() || pendingBytes >= limits.bufferedBytes()) {
                var unused = submit(List.of());
            }
        } finally {
            lock.unlock();
        }
        if (unacknowledged() >= engine.limits().bufferedEntries()) {
            awaitDurable();
        }
    }

    /** Adds a ledger operation without a journal entry. The next write makes it durable. */
    void addLedgerOp(EffectLedger.LedgerOperation op) {
        locked(() -> pendingOps.add(op));
    }

    /** Submits effect outcomes before slow work, so that a crash does not put them in doubt. Does not wait. */
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

    private CompletableFuture<StoreWrite.OwnerWriteResult> submit(List<EffectLedger.LedgerOperation> ops) {
        StoreWrite.AppendJournal append = append(ops, RunState.RUNNING, null);
        CompletableFuture<StoreWrite.OwnerWriteResult> answer =
                engine.committer().submit(run.lane(), append);
        submitted.add(answer);
        return answer;
    }

    private StoreWrite.AppendJournal append(
            List<EffectLedger.LedgerOperation> ops, RunState state, StoreWrite.@Nullable Suspension rest) {
        List<EffectLedger.LedgerOperation> all = new ArrayList<>(pendingOps);
        all.addAll(ops);
        boolean none = pending.isEmpty();
        StoreWrite.AppendJournal append = new StoreWrite.AppendJournal(
                run.driver(), none ? 0 : nextSeq++, none ? "" : JournalCodec.encode(pending), state, all, rest);
        pending.clear();
        pendingOps.clear();
        pendingBytes = 0;
        return append;
    }

    /** Takes a journal sequence number for a separate write. */
    int nextSequence() {
        return locked(() -> nextSeq++);
    }

    /** Submits all pending entries and waits until everything of this run is durable. */
    void awaitDurable() {
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
    EffectLedger.LedgerDecision reserve(EffectLedger.ReserveSend reserve) {
        CompletableFuture<StoreWrite.OwnerWriteResult> answer = locked(() -> submit(List.of(reserve)));
        settle();
        return awaitWrite(answer).ledgerDecisions().getLast();
    }

    private void settle() {
        List<CompletableFuture<StoreWrite.OwnerWriteResult>> open = locked(() -> List.copyOf(submitted));
        counters().diskWaits.increment();
        for (CompletableFuture<StoreWrite.OwnerWriteResult> write : open) {
            checkOwned(awaitWrite(write));
        }
        locked(() -> submitted.removeAll(open));
    }

    /** Waits for a write. A failed write is not a failure of the run, so user code must not see it. */
    <O> O awaitWrite(CompletableFuture<O> write) {
        try {
            return write.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof StoreFailure.ValueRejected) {
                throw end(new RunExecutionAbort.Held(
                        "store",
                        "The store rejected the result of \"" + currentStep
                                + "\". The result is not recorded and the run is held. Find the value that the store"
                                + " cannot hold, correct the code, then continue the run."));
            }
            throw end(new RunExecutionAbort.StoreUnreachable(cause));
        }
    }

    void checkOwned(StoreWrite.OwnerWriteResult owned) {
        if (!owned.recorded()) {
            throw end(new RunExecutionAbort.OwnershipLost());
        }
        if (owned.cancelRequested() && !cancel) {
            cancel();
        }
    }

    /** Checks that this worker may still act: it stops before its lease expires by any clock. */
    void checkMayAct() {
        throwIfEnded();
        ambient().checkAlive();
        if (lease == null
                || !lease.equals(engine.committer().lease())) { // a run is lost together with the lease of its claim
            throw end(new RunExecutionAbort.OwnershipLost());
        }
    }

    /** Parks the run with all pending entries. */
    void park(RunState state, StoreWrite.Suspension rest) {
        StoreWrite.AppendJournal append = locked(() -> {
            if (endReason instanceof RunExecutionAbort.Held held
                    && held.reason().equals("store")) {
                pending.clear(); // they would follow a gap in the journal
                pendingOps.clear();
            }
            return append(List.of(), state, rest);
        });
        counters().diskWaits.increment();
        StoreWrite.OwnerWriteResult owned = awaitWrite(engine.committer().submit(run.lane(), append));
        if (!owned.recorded()) {
            throw end(new RunExecutionAbort.OwnershipLost());
        }
    }

    /** Builds the last write of the run, with all pending entries. */
    StoreWrite.EndRun toEndWrite(RunState state, StoreWrite.RunResult ending) {
        return locked(() -> new StoreWrite.EndRun(
                run.driver(), state, ending, JournalCodec.encode(pending), List.copyOf(pendingOps), hadFailure));
    }

    /** Waits for submitted writes; the last write of a run comes after all others. */
    void awaitSubmittedWrites() {
        if (unacknowledged() > 0) {
            settle();
        }
    }
}
