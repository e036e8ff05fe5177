package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A write to the store with its result type {@code O}; one transaction applies many of them. Applying a write twice has
 * the effect of once, so a batch with a lost COMMIT response is applied again.
 */
public sealed interface StoreWrite<O> {
    /** Approximate number of bytes that this adds to a batch. */
    int weight();

    /**
     * @param hasCapacity whether this worker has capacity to execute it
     * @param catalogVersion the catalog version at which the workflow was read; the claims are valid for no other
     */
    record AdmitRun(NewRun run, List<RunDeduplicationKeyClaim> keyClaims, boolean hasCapacity, long catalogVersion)
            implements StoreWrite<AdmitResult> {
        /**
         * Whether this run may take over the key of a failed run: it continues that lineage and claims the key for
         * following one of its runs. A replay claims the same key, so only one of them succeeds.
         */
        public boolean continuesLineage(RunDeduplicationKeyRecord failed) {
            return failed.lineage().equals(run.links().lineage())
                    && keyClaims.stream().anyMatch(claim -> claim.key().kind() == RunDeduplicationKey.KeyKind.REPLAY);
        }

        @Override
        public int weight() {
            return 512 + run.input().length() + run.links().carriedJournal().length();
        }
    }

    sealed interface AdmitResult {
        /** {@code owned}: this worker's lease executes it. {@code queued}: it waits for its start conditions. */
        record Fresh(
                long now,
                boolean owned,
                RunId lineage,
                @Nullable PreviousHolder previous,
                @Nullable RunDeduplicationKeyRecord duplicateOf,
                boolean queued)
                implements AdmitResult {
            public Fresh asQueued() {
                return new Fresh(now, owned, lineage, previous, duplicateOf, true);
            }
        }

        /** Other runs hold binding keys; in the order of the claims, null for a free key. */
        record KeysHeld(long now, List<@Nullable RunDeduplicationKeyRecord> keyRecords) implements AdmitResult {}

        /** Nothing was claimed; read the newest run of that lineage and retry: {@link AdmitRun#continuesLineage}. */
        record HolderFailed(long now, RunDeduplicationKeyRecord keyRecord) implements AdmitResult {}

        /** Another transaction holds the key and did not end in time. */
        record InUse() implements AdmitResult {}

        /** The catalog changed since the workflow was read. Nothing was claimed; read it again and retry. */
        record CatalogChanged() implements AdmitResult {}

        /** Another write of the same batch must be committed first. Apply this one again in the next transaction. */
        record RetryNextBatch() implements AdmitResult {}

        /** A debounced run absorbed this trigger and took over its input. */
        record Debounced(long now, RunId run, @Nullable String chosenId, long due) implements AdmitResult {}
    }

    /** The run that held the key before. {@code expired} is false if the reason is unknown. */
    record PreviousHolder(RunId run, @Nullable String chosenId, boolean expired) {}

    /** One execution of a run. The claim number increases with every claim, so an outdated execution is detected. */
    record RunExecution(RunId run, int claim) {}

    /** Empty text for no entries. Can also suspend the run: no worker owns it until it is due. */
    record AppendJournal(
            RunExecution by,
            int seq,
            String entries,
            RunState state,
            List<EffectLedger.LedgerOperation> ops,
            @Nullable Suspension suspension)
            implements StoreWrite<OwnerWriteResult> {
        public RunId run() {
            return by.run();
        }

        /** Whether the run progressed. An intent alone is no progress: the worker may crash at it every time. */
        public boolean isProgress() {
            return !entries.isEmpty();
        }

        @Override
        public int weight() {
            return 128 + entries.length() + 512 * ops.size();
        }
    }

    /**
     * @param due when a worker should claim it, by the store's clock; {@link #NEVER} if only a wake-up counts
     * @param waitingFor what it waits for, as JSON text, for users and wake-ups
     * @param signals how many signals the run has read; if there are more, it is due at once
     * @param cancelSeen whether its execution knows of the cancellation; otherwise a cancelled run is due at once
     * @param suspect it crashed its workers: the crash count stays until a user continues it
     */
    record Suspension(long due, String waitingFor, int signals, boolean cancelSeen, boolean suspect) {
        public static final long NEVER = Long.MAX_VALUE;

        /** Like {@link #NEVER}, but workers with changed code look for such runs. */
        public static final long HELD = NEVER - 1;
    }

    record EndRun(
            RunExecution by,
            RunState state,
            RunResult result,
            String entries,
            List<EffectLedger.LedgerOperation> ops,
            boolean hadFailedAttempt)
            implements StoreWrite<OwnerWriteResult> {
        public RunId run() {
            return by.run();
        }

        @Override
        public int weight() {
            return 256
                    + entries.length()
                    + 512 * ops.size()
                    + (result.output() == null ? 0 : result.output().length());
        }
    }

    record RunResult(
            @Nullable String output,
            @Nullable String errorCode,
            @Nullable String errorMessage,
            @Nullable String errorStep) {
        public static RunResult output(String json) {
            return new RunResult(json, null, null, null);
        }
    }

    /**
     * @param cancelRequested whether a cancellation was requested
     * @param ledgerDecisions the ledger's decisions, in the order of the operations
     */
    record OwnerWriteResult(
            boolean recorded, boolean cancelRequested, List<EffectLedger.LedgerDecision> ledgerDecisions)
            implements TransactionResult {
        public static final OwnerWriteResult RECORDED = new OwnerWriteResult(true, false, List.of());
        public static final OwnerWriteResult FENCED = new OwnerWriteResult(false, false, List.of());
    }

    sealed interface TransactionResult {}

    /** The user's code failed, and its transaction was rolled back. */
    record RolledBack(Throwable failure) implements TransactionResult {}

    /** The write conflicts with another one of the same transaction. Apply it again in the next one. */
    enum Deferred {
        DEFERRED
    }

    /** Records duplicate requests. Each row has an id, so that counts stay exact. Rows of deleted runs are dropped. */
    record RecordDuplicates(List<DuplicateRequest> rows) implements StoreWrite<Boolean> {
        @Override
        public int weight() {
            return rows.size() * 160;
        }
    }

    /**
     * One row of the request list: {@code times} equal requests between {@code at} and the end of its second.
     *
     * @param rejectedKey the key of a rejected request, if it is not the key of the run that it met
     */
    record DuplicateRequest(
            RunId id,
            int workspace,
            RunId run,
            boolean conflict,
            long at,
            int statusCode,
            String actor,
            @Nullable String changed,
            long times,
            @Nullable String rejectedKey) {
        /** A request with the key of its run, or without a key. */
        public DuplicateRequest(
                RunId id,
                int workspace,
                RunId run,
                boolean conflict,
                long at,
                int statusCode,
                String actor,
                @Nullable String changed,
                long times) {
            this(id, workspace, run, conflict, at, statusCode, actor, changed, times, null);
        }
    }

    /**
     * @param excludedWorkflows ids of workflows that this worker cannot execute
     * @param maxCrashes only runs whose worker crashed at most this often in a row
     * @param memory claims runs of a workflow in their order, until one of them does not fit
     */
    record ClaimRuns(int limit, List<String> excludedWorkflows, int maxCrashes, ClaimMemory memory)
            implements StoreWrite<List<RunExecution>> {
        public ClaimRuns(int limit) {
            this(limit, List.of(), Integer.MAX_VALUE);
        }

        public ClaimRuns(int limit, List<String> excludedWorkflows, int maxCrashes) {
            this(limit, excludedWorkflows, maxCrashes, ClaimMemory.UNLIMITED);
        }

        @Override
        public int weight() {
            return 64;
        }
    }

    /** Requires that the user's data is in the store's database. */
    record UserTransaction(RunExecution by, int seq, TransactionBody body) implements StoreWrite<TransactionResult> {
        @Override
        public int weight() {
            return 4096;
        }
    }

    /** Returns the journal entries and must not commit. A failure rolls back its work and nothing else. */
    @FunctionalInterface
    interface TransactionBody {
        String apply(java.sql.Connection connection) throws Exception;

        /** Stores that can cancel statements poll it. After a cancellation, a second call fails at once. */
        default boolean isOverdue() {
            return false;
        }

        /** The time limit, for stores whose server cancels statements itself; null for the store's own limit. */
        default java.time.@Nullable Duration timeLimit() {
            return null;
        }
    }

    /** The store sets its time. {@code catalogVersion}: of the match; later subscriptions were not considered. */
    record SaveEvent(DatabaseRows.EventRow event, long catalogVersion) implements StoreWrite<SaveEventResult> {
        /** How long repeats of an event are detected. A later one counts as new, even if the old row still exists. */
        public static final Duration WINDOW = Duration.ofDays(7);

        @Override
        public int weight() {
            return 256 + event.body().length();
        }
    }

    sealed interface SaveEventResult {
        /** The event is stored. {@code fresh}: by this write, not before. */
        record Saved(boolean fresh) implements SaveEventResult {}

        /** The catalog changed since the event was matched. Nothing was saved; match it again. */
        record CatalogChanged() implements SaveEventResult {}
    }

    record ExecuteCommand<T>(StoreWriteCommand<T> command) implements StoreWrite<T> {
        @Override
        public int weight() {
            return 1024;
        }
    }

    /**
     * How much memory claimed runs may use at a worker. A parsed tree of small JSON values uses about 20 times its text; the
     * journal is kept as text.
     *
     * @param free bytes for all runs of the claim
     * @param perRun at most so many bytes are counted for one run
     */
    public record ClaimMemory(long free, long perRun) {
        public static final ClaimMemory UNLIMITED = new ClaimMemory(Long.MAX_VALUE, Long.MAX_VALUE);

        /** Thread, state and small objects of any run. */
        private static final long BASE = 4 * 1024;

        public static final long PER_INPUT_BYTE = 20;

        public static final long PER_JOURNAL_BYTE = 3;

        public long estimate(long input, long journal) {
            return Math.min(perRun, BASE + PER_INPUT_BYTE * input + PER_JOURNAL_BYTE * journal);
        }

        public ClaimMemory without(long bytes) {
            return new ClaimMemory(free - bytes, perRun);
        }
    }
}
