package dev.semel.store;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.schedule.TickDecision;
import dev.semel.schedule.TickOutcome;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A less frequent write operation of the store, with its result type {@code T}: publishing, settings, signals,
 * retention, schedules and more. Every command returns a result.
 */
public sealed interface StoreCommand<T> {
    /** Whether the command may change workflows or tokens, which every worker caches. */
    default boolean changesCatalog() {
        return false;
    }

    /**
     * Whether the command locks rows outside the lock order of a batch: released or expired keys, stored replies, new
     * workspaces and tokens. Two batches with such commands could deadlock, so each such command gets its own
     * transaction.
     */
    default boolean needsOwnTransaction() {
        return false;
    }

    /** Creates the workspace if none has this name, and returns the existing one otherwise. */
    record CreateWorkspace(String name, byte[] secret) implements StoreCommand<StoredRows.WorkspaceRow> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Publishes a workflow version for all triggers and ends a candidate. An unchanged text keeps its version number.
     */
    record PublishVersion(int workspace, String name, String workflowId, String body, String actor)
            implements StoreCommand<StoredRows.WorkflowRow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Publishes only if the workflow and the catalog did not change since the author looked; returns null otherwise.
     * Publishing the current text again is never a conflict, so a retry gets the same result.
     *
     * @param catalogVersion the catalog version at which a quota over all workflows was checked; null if none was checked
     * @param expected the versions that the author saw; null accepts any
     */
    record PublishIfUnchanged(
            PublishVersion publish,
            @Nullable Long catalogVersion,
            @Nullable VersionsInForce expected) implements StoreCommand<StoredRows.@Nullable WorkflowRow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * The current version and the candidate of a workflow, as an author saw them.
     *
     * @param version the current version; 0 if the workflow does not exist
     * @param candidate the candidate that gets a percentage of the triggers; 0 for none
     */
    record VersionsInForce(int version, int candidate) {
        /** Whether the workflow still has these versions. */
        public boolean matches(@Nullable Rollout now) {
            return now == null
                    ? version == 0 && candidate == 0
                    : version == now.version() && candidate == now.candidate();
        }
    }

    /**
     * Publishes a candidate version for a percentage of the fresh triggers. Returns null if the workflow does not
     * exist.
     */
    record StageCandidate(int workspace, String name, String body, int percentage, String actor)
            implements StoreCommand<StoredRows.@Nullable WorkflowRow> {
        public StageCandidate {
            if (percentage < 1 || percentage > Rollout.MAX_PERCENTAGE) {
                throw new IllegalArgumentException("a rollout percentage is 1 to 99, not " + percentage);
            }
        }

        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Makes the candidate the current version. Changes nothing if there is no candidate or another one than expected.
     * Returns null if the workflow does not exist.
     *
     * @param version the expected candidate; 0 for any
     */
    record PromoteCandidate(int workspace, String workflowId, int version, String actor)
            implements StoreCommand<StoredRows.@Nullable WorkflowRow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Ends the candidate, if there is one; with a version, republishes that version's text under a new number. Returns
     * null if the workflow or version does not exist.
     *
     * @param version whose text becomes current; 0 keeps the current version
     */
    record RollBackVersion(int workspace, String workflowId, int version, String actor, String reason)
            implements StoreCommand<StoredRows.@Nullable WorkflowRow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /** Pauses or resumes a workflow. Resuming starts its queued runs. Returns null if the workflow does not exist. */
    record PauseWorkflow(int workspace, String workflowId, boolean paused)
            implements StoreCommand<StoredRows.@Nullable WorkflowRow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Creates an API token, and its workspace if one is given. Returns the stored token, also when applied again; null
     * if its id, its hash or the workspace exists already.
     *
     * @param newWorkspace a workspace to create with the token; null to use the token's existing workspace
     */
    record CreateToken(StoredRows.TokenRow token, @Nullable CreateWorkspace newWorkspace)
            implements StoreCommand<StoredRows.@Nullable TokenRow> {
        public CreateToken(StoredRows.TokenRow token) {
            this(token, null);
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Revokes an API token. Returns false if it does not exist or was revoked before. */
    record RevokeToken(int workspace, String tokenId, String actor) implements StoreCommand<Boolean> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Who requests a change and why, for the audit log.
     *
     * @param requestId of this request: if the audit log contains it, the change was made and only the response was lost
     */
    record ChangeAuthor(RunId requestId, String actor, String reason) {}

    /**
     * Releases a unique key, if that run still holds it; the next trigger with the key is fresh. Returns false if the
     * key was released before or another run holds it. Applied again after a lost response, it returns its first
     * result.
     */
    record ReleaseKey(UniqueKey key, RunId run, ChangeAuthor by) implements StoreCommand<Boolean> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Extends the window of a unique key, if that run still holds it; never shortens it. Returns false if another run
     * holds the key, or if it was released or has expired. Applied again, it returns its first result.
     *
     * @param until microseconds of the store's clock
     */
    record ExtendKey(UniqueKey key, RunId run, long until, ChangeAuthor by) implements StoreCommand<Boolean> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Releases several keys in one transaction, payload keys together with their callers' keys. Returns true if a key
     * was released.
     */
    record ReleaseKeys(List<ReleaseKey> releases) implements StoreCommand<Boolean> {
        /** Sorted in the lock order of keys. */
        public ReleaseKeys {
            releases = releases.stream()
                    .sorted(Comparator.comparing(ReleaseKey::key))
                    .toList();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * A command that came with an idempotency key. The first request executes it and stores the reply in the same
     * transaction; later requests get the stored reply.
     *
     * @param encodeReply encodes the reply to store; null if the command was rejected, which stores nothing
     */
    record IdempotentCommand<T>(
            CommandRequest request, StoreCommand<T> command, Function<@Nullable T, @Nullable String> encodeReply)
            implements StoreCommand<CommandReply> {
        @Override
        public boolean changesCatalog() {
            return command.changesCatalog();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Identifies a request for an idempotent command: operation, key and digest of the request.
     *
     * @param id of this request: if the stored reply has the same id, its response was lost and it is no duplicate
     * @param operation separates the keys of different operations
     * @param digest of everything that defines the request
     * @param window microseconds for which the reply is stored
     */
    record CommandRequest(RunId id, int workspace, String operation, String key, byte[] digest, long window) {}

    /**
     * A command that also writes its audit row in the same transaction. Applied again, it leaves one row.
     *
     * @param isAuditable whether the result deserves a row; a rejected or unnecessary change leaves none
     */
    record AuditedCommand<T>(StoreCommand<T> command, Predicate<@Nullable T> isAuditable, AuditEntry entry)
            implements StoreCommand<T> {
        @Override
        public boolean changesCatalog() {
            return command.changesCatalog();
        }

        @Override
        public boolean needsOwnTransaction() {
            return command.needsOwnTransaction();
        }
    }

    /** A row of the audit log. It must contain no payload value and no secret. */
    record AuditEntry(int workspace, String action, String target, ChangeAuthor by) {}

    /** The result of an idempotent command. */
    sealed interface CommandReply {
        /** The command was executed now or by an earlier request. */
        record Done(String answer, boolean replayed) implements CommandReply {}

        /** The command was rejected; nothing is stored. */
        record Rejected() implements CommandReply {}

        /** The key was used before with a different request. Nothing was changed. */
        record DifferentRequest() implements CommandReply {}
    }

    /** Deletes up to {@code limit} expired replies of idempotent commands and returns their number. */
    record DeleteExpiredReplies(int limit) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Deletes these expired keys if they did not change since they were read, and returns their number. */
    record DeleteTombstones(List<KeyTombstone> tombstones) implements StoreCommand<Integer> {
        /** Sorted in the lock order of keys. */
        public DeleteTombstones {
            tombstones = tombstones.stream()
                    .sorted(Comparator.comparing(KeyTombstone::key))
                    .toList();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Deletes runs that ended before a time, with everything that belongs to them, and returns their number. A lineage
     * is deleted as a whole, by its first run. It stays while a key, an effect in its window or in doubt, or an
     * unfinished parent needs it.
     */
    record DeleteRuns(List<RunId> lineages, long endedBefore) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Erases input, output and step results of old runs and returns how many had any. The runs stay with their final
     * state. A lineage that must not be deleted yet keeps its payload.
     */
    record ErasePayloads(List<RunId> lineages, long endedBefore) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** A history table whose rows are deleted by age. */
    enum HistoryTable {
        /** Rows of single duplicate requests; their counts stay with the run. */
        REQUESTS,
        AUDIT
    }

    /**
     * Deletes rows of a history table that are older than a time, scanning at most {@code limit}; returns their number.
     */
    record DeleteOldHistory(HistoryTable table, long before, int limit) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Deletes these events if they did not change since they were read, and returns their number. */
    record DeleteEvents(List<ExpiredEvent> events) implements StoreCommand<Integer> {
        /** Sorted in the lock order of events. */
        public DeleteEvents {
            events = events.stream()
                    .sorted(Comparator.comparingInt(ExpiredEvent::ws).thenComparing(ExpiredEvent::eventId))
                    .toList();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** An event past its retention, and when it was received. */
    record ExpiredEvent(int ws, String eventId, long receivedAt) {}

    /** An expired unique key, the run that held it, and its expiry time. */
    record KeyTombstone(UniqueKey key, RunId run, long expiresAt) {}

    /** Sends a signal to a run and makes a waiting run due. A signal with a repeated key is delivered once. */
    record SendSignal(int workspace, RunId run, String name, String key, String value)
            implements StoreCommand<SignalResult> {}

    /** The result of sending a signal to a run. */
    enum SignalResult {
        DELIVERED,
        /** A signal with the same key came before. */
        REPEATED,
        /** The run does not exist or has ended. */
        GONE
    }

    /** Executes an operation on keyed signals. */
    record KeyedSignalCommand<T>(KeyedSignalOperation<T> operation) implements StoreCommand<T> {
        @Override
        public boolean needsOwnTransaction() {
            return operation.needsOwnTransaction();
        }
    }

    /** Executes an operation on a safe-replay plan. */
    record ReplayPlanCommand<T>(ReplayPlanOperation<T> operation) implements StoreCommand<T> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Executes an operation on a review. */
    record ReviewCommand<T>(ReviewOperation<T> operation) implements StoreCommand<T> {
        @Override
        public boolean needsOwnTransaction() {
            return true; // it locks run, effect and review in one fixed order
        }
    }

    /** Requests the cancellation of a run; its worker ends it. Returns false if the run does not exist or has ended. */
    record CancelRun(int workspace, RunId run, String actor, String reason) implements StoreCommand<Boolean> {}

    /** Makes runs due now, or as soon as their worker suspends them. Returns the number of runs. */
    record WakeRuns(List<RunId> runs) implements StoreCommand<Integer> {}

    /** Returns a claimed run unexecuted, so that another worker can claim it. */
    record ReturnRun(StoreWrite.RunExecution execution) implements StoreCommand<Boolean> {}

    /**
     * Makes runs due again that were held because the workflow code did not match; called when the code may have
     * changed.
     */
    record WakeHeldRuns(String workflowId) implements StoreCommand<Integer> {}

    /** Continues a held run. Returns false if the run does not exist or is not held. */
    record ContinueHeldRun(int workspace, RunId run, String actor, String reason) implements StoreCommand<Boolean> {}

    /**
     * Reopens a failed run in place, under its own id. A unique key allows one follower per end: either one replay or
     * one resumption. Applied again, it returns its first result.
     *
     * @param endedAt when the run ended, as the caller saw it
     * @param followClaim the unique key for following this end
     * @param firstClaim the number from which further executions are counted
     * @param seq of the new journal chunk
     * @param entries of that chunk: the entries of the end, and the resumption
     * @param queueLimits queues that the run passes through again
     * @param ops decisions of a user on its effects
     */
    record ResumeFailedRun(
            int workspace,
            RunId run,
            long endedAt,
            KeyClaim followClaim,
            int firstClaim,
            int seq,
            String entries,
            List<NewRun.StartConditions.QueueLimit> queueLimits,
            List<EffectLedger.LedgerOperation> ops,
            ChangeAuthor by)
            implements StoreCommand<ResumeResult> {
        /** Sorted in the lock order of queues and effects. */
        public ResumeFailedRun {
            queueLimits = queueLimits.stream()
                    .sorted(Comparator.comparing(NewRun.StartConditions.QueueLimit::queue))
                    .toList();
            ops = ops.stream()
                    .sorted(Comparator.comparing(EffectLedger.LedgerOperation::id))
                    .toList();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** The result of resuming a failed run. */
    enum ResumeResult {
        /** The run is unfinished again. */
        DONE,
        /** The run has not ended, ended differently or at another time, or does not exist. Nothing was changed. */
        MOVED,
        /** Another run follows this end. Nothing was changed. */
        FOLLOWED
    }

    /**
     * Records a user's decision on an effect in doubt: its result, or null if it did not happen. Returns false if the
     * effect is not in doubt or another request decided it.
     */
    record DecideEffect(
            EffectLedger.EffectId effect,
            RunId run,
            @Nullable String result,
            ChangeAuthor by) implements StoreCommand<Boolean> {}

    /**
     * Saves a text as the current version of a setting. If it is already current, nothing changes, so a retry gets the
     * same result.
     *
     * @param expectedVersion the version to replace, 0 if there must be none; null for any
     */
    record SaveSetting(
            SettingName name, String body, @Nullable Integer expectedVersion, String actor)
            implements StoreCommand<SettingResult> {
        @Override
        public boolean changesCatalog() {
            return name.kind().changesCatalog();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Removes a setting by adding a version without a text. Applied again, it returns the same version. */
    record RemoveSetting(SettingName name, @Nullable Integer expectedVersion, String actor)
            implements StoreCommand<SettingResult> {
        @Override
        public boolean changesCatalog() {
            return name.kind().changesCatalog();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Saves or removes a setting only if the catalog version did not change, so that a quota over other settings still
     * holds. Otherwise it returns {@link SettingResult.VersionConflict} and changes nothing. If the setting already has the requested
     * state, it succeeds, so it may be applied twice.
     */
    record ChangeSettingIfCatalogUnchanged(StoreCommand<SettingResult> settingChange, long catalogVersion)
            implements StoreCommand<SettingResult> {
        /** No setting has this version. */
        private static final int NEVER = -1;

        public ChangeSettingIfCatalogUnchanged {
            if (!(settingChange instanceof SaveSetting || settingChange instanceof RemoveSetting)
                    || !settingChange.changesCatalog()) {
                throw new IllegalArgumentException("only settings that change the catalog can depend on its version");
            }
        }

        /** Returns the change to apply at this catalog version: one that must fail if the catalog changed. */
        public StoreCommand<SettingResult> forCatalogVersion(@Nullable Long number) {
            boolean still = number != null && number == catalogVersion;
            return switch (settingChange) {
                case SaveSetting put when !still -> new SaveSetting(put.name(), put.body(), NEVER, put.actor());
                case RemoveSetting remove when !still -> new RemoveSetting(remove.name(), NEVER, remove.actor());
                default -> settingChange;
            };
        }

        @Override
        public boolean changesCatalog() {
            return true;
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Records a received webhook delivery and compares its id and signature with those in their window. Returns the
     * delivery with its verdict, also when applied again; null if the hourly limit of rejected deliveries is reached.
     */
    record RecordDelivery(WebhookDelivery delivery, WebhookDelivery.DedupSettings dedup)
            implements StoreCommand<@Nullable WebhookDelivery> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Deletes up to {@code limit} expired deliveries, payloads and deduplication keys each, and returns their number.
     */
    record DeleteExpiredDeliveries(int limit) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** The result of saving or removing a setting. */
    sealed interface SettingResult {
        /** The setting has the requested state. */
        record Saved(StoredRows.SettingRow row) implements SettingResult {}

        /** The current version is not the expected one; 0 if there is none. Nothing was changed. */
        record VersionConflict(int version) implements SettingResult {}

        /** There never was such a setting to remove. */
        record NotFound() implements SettingResult {}
    }

    /**
     * Saves the schedules of a workflow version and removes its other schedules; the tick history stays. Returns false
     * and changes nothing if the version is not current or a row changed meanwhile.
     *
     * @param abandoned tick history for schedules that are removed or get other times
     */
    record SaveSchedules(
            int workspace,
            String workflowId,
            int version,
            List<ScheduleUpdate> schedules,
            List<AbandonedTicks> abandoned)
            implements StoreCommand<Boolean> {
        public SaveSchedules {
            schedules = schedules.stream()
                    .sorted(Comparator.comparing(ScheduleUpdate::name))
                    .toList();
            abandoned = List.copyOf(abandoned);
        }

        /** Lets the store record the ticks that removed schedules leave behind. */
        public SaveSchedules(int workspace, String workflowId, int version, List<ScheduleUpdate> schedules) {
            this(workspace, workflowId, version, schedules, List.of());
        }

        /**
         * Returns the ticks to record if this schedule is removed or gets other times now. If the caller did not list
         * the ticks, the first one represents all.
         */
        public List<StoredRows.TickRow> abandonedTicksOf(StoredRows.ScheduleRow row, long now) {
            for (AbandonedTicks one : abandoned) {
                if (one.name().equals(row.name()) && one.nominal() == row.nextNominal()) {
                    return one.ticks();
                }
            }
            long through = row.nextNominal() < now ? now : 0;
            return row.nextNominal() > now
                    ? List.of()
                    : List.of(new StoredRows.TickRow(
                            row.workflowId(),
                            row.name(),
                            row.nextNominal(),
                            TickOutcome.SKIPPED,
                            TickDecision.SkipReason.EDITED.word(),
                            null,
                            now,
                            through));
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * The new state of a schedule.
     *
     * @param previous the row that was read; null if there was none
     */
    record ScheduleUpdate(
            String name, String spec, long nextNominal, long nextAt, StoredRows.@Nullable ScheduleRow previous) {}

    /**
     * Due ticks of a schedule that was edited before they fired, with the runs that some of them have.
     *
     * @param nominal the next nominal time of the row that was read
     */
    record AbandonedTicks(String name, long nominal, List<StoredRows.TickRow> ticks) {
        public AbandonedTicks {
            ticks = List.copyOf(ticks);
        }
    }

    /**
     * Claims due ticks for one worker for a limited time, and returns the claimed schedules.
     *
     * @param by the id of this request
     * @param duration microseconds
     */
    record ClaimTicks(List<StoredRows.ScheduleRow> due, RunId by, long duration)
            implements StoreCommand<List<StoredRows.ScheduleRow>> {
        /** Sorted in the lock order of schedules. */
        public ClaimTicks {
            due = due.stream()
                    .sorted(Comparator.comparing(StoredRows.ScheduleRow::workflowId)
                            .thenComparing(StoredRows.ScheduleRow::name))
                    .toList();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Records the outcome of claimed ticks and the next tick of each schedule. Returns how many schedules advanced. */
    record RecordTicks(RunId by, List<ScheduleProgress> progress) implements StoreCommand<Integer> {
        /** Sorted in the lock order of schedules. */
        public RecordTicks {
            progress = progress.stream()
                    .sorted(Comparator.comparing(ScheduleProgress::workflowId).thenComparing(ScheduleProgress::name))
                    .toList();
        }

        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * The recorded ticks of one schedule, and its next tick.
     *
     * @param nominal the nominal time that was claimed. If the schedule is at another time by now, or another worker
     *     claimed it, runs are still recorded but skipped ticks are not
     * @param lastRun of the newest of these ticks that has one; null keeps the stored one
     */
    record ScheduleProgress(
            String workflowId,
            String name,
            long nominal,
            long nextNominal,
            long nextAt,
            @Nullable RunId lastRun,
            List<StoredRows.TickRow> ticks) {}

    /** Records ticks that a user backfilled and returns how many were recorded. A tick that has a run keeps it. */
    record RecordBackfill(List<StoredRows.TickRow> ticks) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Pauses or resumes one schedule. Returns null if the schedule does not exist. */
    record PauseSchedule(int workspace, String workflowId, String name, boolean paused, ChangeAuthor by)
            implements StoreCommand<StoredRows.@Nullable ScheduleRow> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /**
     * Merges old minute counters into hours and deletes expired counters and facts, up to {@code limit} rows each.
     * Returns the number of deleted rows.
     *
     * @param hourlyBefore older minutes are merged by the hour
     * @param countsBefore the last minute whose counters are deleted
     * @param factsBefore microseconds; older facts are deleted
     */
    record CompactMetrics(long hourlyBefore, long countsBefore, long factsBefore, int limit)
            implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Deletes up to {@code limit} ticks that were recorded before a time, and returns their number. */
    record DeleteOldTicks(long before, int limit) implements StoreCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }
}
