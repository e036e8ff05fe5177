package dev.semel.store;

import dev.semel.effect.EffectLedger;
import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import dev.semel.schedule.ScheduleTickDecision;
import dev.semel.schedule.ScheduleTickOutcome;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A less frequent write with its result type {@code T}. Every command returns a result. */
public sealed interface StoreWriteCommand<T> {
    /** Whether the command may change workflows or tokens, which every worker caches. */
    default boolean changesCatalog() {
        return false;
    }

    /**
     * Such commands lock rows outside the lock order of a batch: released or expired keys, stored replies, new
     * workspaces and tokens. Two batches with such commands could deadlock.
     */
    default boolean needsOwnTransaction() {
        return false;
    }

    /** A command that changes workflows or tokens. It locks no run. */
    sealed interface CatalogChange<T> extends StoreWriteCommand<T> {
        @Override
        default boolean changesCatalog() {
            return true;
        }
    }

    /** A command with its own transaction. It locks no run that a batch locks before its first write. */
    sealed interface OwnTransaction<T> extends StoreWriteCommand<T> {
        @Override
        default boolean needsOwnTransaction() {
            return true;
        }
    }

    private static <E> List<E> sorted(List<E> list, Comparator<? super E> lockOrder) {
        return list.stream().sorted(lockOrder).toList();
    }

    /** Creates the workspace if none has this name, and returns the existing one otherwise. */
    record CreateWorkspace(String name, byte[] secret) implements OwnTransaction<DatabaseRows.WorkspaceRow> {}

    /** Applies to all triggers and ends a candidate. An unchanged text keeps its version number. */
    record PublishVersion(int workspace, String name, String workflowId, String body, String actor)
            implements CatalogChange<DatabaseRows.WorkflowRow> {}

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
            @Nullable VersionsInForce expected) implements CatalogChange<DatabaseRows.@Nullable WorkflowRow> {}

    /**
     * @param version the current version; 0 if the workflow does not exist
     * @param candidate the candidate that gets a percentage of the triggers; 0 for none
     */
    record VersionsInForce(int version, int candidate) {
        public boolean matches(@Nullable WorkflowVersionRollout now) {
            return now == null
                    ? version == 0 && candidate == 0
                    : version == now.version() && candidate == now.candidate();
        }
    }

    /** The candidate gets a percentage of the fresh triggers. Returns null if the workflow does not exist. */
    record StageCandidate(int workspace, String name, String body, int percentage, String actor)
            implements CatalogChange<DatabaseRows.@Nullable WorkflowRow> {
        public StageCandidate {
            if (percentage < 1 || percentage > WorkflowVersionRollout.MAX_PERCENTAGE) {
                throw new IllegalArgumentException("a rollout percentage is 1 to 99, not " + percentage);
            }
        }
    }

    /** Changes nothing if {@code version} (0 for any) is not the candidate. Null if the workflow does not exist. */
    record PromoteCandidate(int workspace, String workflowId, int version, String actor)
            implements CatalogChange<DatabaseRows.@Nullable WorkflowRow> {}

    /** Ends a candidate; republishes {@code version}, unless 0, under a new number. Null if either does not exist. */
    record RollBackVersion(int workspace, String workflowId, int version, String actor, String reason)
            implements CatalogChange<DatabaseRows.@Nullable WorkflowRow> {}

    /** Pauses or resumes a workflow. Resuming starts its queued runs. Returns null if the workflow does not exist. */
    record PauseWorkflow(int workspace, String workflowId, boolean paused)
            implements CatalogChange<DatabaseRows.@Nullable WorkflowRow> {}

    /**
     * Creates an API token, and its workspace if one is given. Returns the stored token, also when applied again; null
     * if its id, its hash or the workspace exists already.
     *
     * @param newWorkspace a workspace to create with the token; null to use the token's existing workspace
     */
    record CreateToken(
            DatabaseRows.TokenRow token, @Nullable CreateWorkspace newWorkspace)
            implements OwnTransaction<DatabaseRows.@Nullable TokenRow> {
        public CreateToken(DatabaseRows.TokenRow token) {
            this(token, null);
        }
    }

    /** Revokes an API token. Returns false if it does not exist or was revoked before. */
    record RevokeToken(int workspace, String tokenId, String actor) implements CatalogChange<Boolean> {}

    /**
     * @param requestId of this request: if the audit log contains it, the change was made and only the response was
     *     lost
     */
    record ChangeAuthor(RunId requestId, String actor, String reason) {}

    /** Returns false if that run no longer holds it. Applied again, it returns its first result. */
    record ReleaseKey(RunDeduplicationKey key, RunId run, ChangeAuthor by) implements OwnTransaction<Boolean> {}

    /**
     * Never shortens it; false if that run does not hold it now. Applied again, it returns its first result.
     *
     * @param until microseconds of the store's clock
     */
    record ExtendKey(RunDeduplicationKey key, RunId run, long until, ChangeAuthor by)
            implements OwnTransaction<Boolean> {}

    /** Releases payload keys together with their callers' keys. Returns true if a key was released. */
    record ReleaseKeys(List<ReleaseKey> releases) implements OwnTransaction<Boolean> {
        /** Sorted in the lock order of keys. */
        public ReleaseKeys {
            releases = sorted(releases, Comparator.comparing(ReleaseKey::key));
        }
    }

    /**
     * A command that came with an idempotency key. The first request executes it and stores the reply in the same
     * transaction; later requests get the stored reply.
     *
     * @param encodeReply encodes the reply to store; null if the command was rejected, which stores nothing
     */
    record IdempotentCommand<T>(
            CommandRequest request, StoreWriteCommand<T> command, Function<@Nullable T, @Nullable String> encodeReply)
            implements StoreWriteCommand<CommandReply> {
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
     * @param id of this request: if the stored reply has the same id, its response was lost and it is no duplicate
     * @param operation separates the keys of different operations
     * @param digest of everything that defines the request
     * @param window microseconds for which the reply is stored
     */
    record CommandRequest(RunId id, int workspace, String operation, String key, byte[] digest, long window) {}

    /** In one transaction; applied again, it leaves one row. A rejected or unnecessary change leaves none. */
    record AuditedCommand<T>(StoreWriteCommand<T> command, Predicate<@Nullable T> isAuditable, AuditEntry entry)
            implements StoreWriteCommand<T> {
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

    sealed interface CommandReply {
        /** The command was executed now or by an earlier request. */
        record Done(String answer, boolean replayed) implements CommandReply {}

        /** The command was rejected; nothing is stored. */
        record Rejected() implements CommandReply {}

        /** The key was used before with a different request. Nothing was changed. */
        record DifferentRequest() implements CommandReply {}
    }

    /** Deletes up to {@code limit} expired replies of idempotent commands and returns their number. */
    record DeleteExpiredReplies(int limit) implements OwnTransaction<Integer> {}

    /** Deletes these expired keys if they did not change since they were read, and returns their number. */
    record DeleteTombstones(List<KeyTombstone> tombstones) implements OwnTransaction<Integer> {
        /** Sorted in the lock order of keys. */
        public DeleteTombstones {
            tombstones = sorted(tombstones, Comparator.comparing(KeyTombstone::key));
        }
    }

    /**
     * A lineage is deleted as a whole, by its first run. It stays while a key, an effect in its window or in doubt, or
     * an unfinished parent needs it.
     */
    record DeleteRuns(List<RunId> lineages, long endedBefore) implements OwnTransaction<Integer> {}

    /** Runs keep their final state; a lineage that must not be deleted yet keeps its payload. Returns the number. */
    record ErasePayloads(List<RunId> lineages, long endedBefore) implements OwnTransaction<Integer> {}

    enum HistoryTable {
        /** Rows of single duplicate requests; their counts stay with the run. */
        REQUESTS,
        AUDIT
    }

    /** Scans at most {@code limit} rows that are older than a time; returns the number of deleted ones. */
    record DeleteOldHistory(HistoryTable table, long before, int limit) implements OwnTransaction<Integer> {}

    /** Deletes these events if they did not change since they were read, and returns their number. */
    record DeleteEvents(List<ExpiredEvent> events) implements OwnTransaction<Integer> {
        /** Sorted in the lock order of events. */
        public DeleteEvents {
            events = sorted(events, Comparator.comparingInt(ExpiredEvent::ws).thenComparing(ExpiredEvent::eventId));
        }
    }

    record ExpiredEvent(int ws, String eventId, long receivedAt) {}

    record KeyTombstone(RunDeduplicationKey key, RunId run, long expiresAt) {}

    /** Sends a signal to a run and makes a waiting run due. A signal with a repeated key is delivered once. */
    record SendSignal(int workspace, RunId run, String name, String key, String value)
            implements StoreWriteCommand<SignalResult> {
        public SendSignal {
            // Both are in an index; the name of a decision contains the path of its step.
            name = StorableText.shortenForIndex(name);
            key = StorableText.shortenForIndex(key);
        }
    }

    enum SignalResult {
        DELIVERED,
        /** A signal with the same key came before. */
        REPEATED,
        /** The run does not exist or has ended. */
        GONE,
        /** The run has too many signals that no wait has recorded. Nothing was sent. */
        FULL
    }

    /** The journal of the run has this signal: its value is deleted. Its key stays, so that it is sent once. */
    record DiscardSignal(RunId run, String name, String key) implements StoreWriteCommand<Boolean> {}

    record KeyedSignalCommand<T>(KeyedSignalStoreWriteCommand<T> operation) implements StoreWriteCommand<T> {
        @Override
        public boolean needsOwnTransaction() {
            return operation.needsOwnTransaction();
        }
    }

    record ReplayPlanCommand<T>(ReplayPlanStoreWriteCommand<T> operation) implements OwnTransaction<T> {}

    record ReviewCommand<T>(HumanReviewStoreWriteCommand<T> operation) implements StoreWriteCommand<T> {
        @Override
        public boolean needsOwnTransaction() {
            return true; // it locks run, effect and review in one fixed order
        }
    }

    /** Requests the cancellation of a run; its worker ends it. Returns false if the run does not exist or has ended. */
    record CancelRun(int workspace, RunId run, String actor, String reason) implements StoreWriteCommand<Boolean> {}

    /** Makes runs due now, or as soon as their worker suspends them. Returns the number of runs. */
    record WakeRuns(List<RunId> runs) implements StoreWriteCommand<Integer> {}

    /** Returns a claimed run unexecuted, so that another worker can claim it. */
    record ReturnRun(StoreWrite.RunExecution execution) implements StoreWriteCommand<Boolean> {}

    /** For runs held because the code did not match; called when the code may have changed. */
    record WakeHeldRuns(String workflowId) implements StoreWriteCommand<Integer> {}

    /**
     * Changes the limit for the runs that wait in a queue, and lets those start that may. Returns how many it started;
     * with {@code most}, more may be left.
     */
    record SetConcurrencyLimit(String queue, int limit, int most) implements OwnTransaction<Integer> {}

    /**
     * A run that waits for its next attempt, or for the effect of another run, leaves its place in a queue to others, and
     * enters the queue again when it is due. Returns false if this execution does not wait any more or has no place.
     */
    record ReturnConcurrencyPlace(StoreWrite.RunExecution by, String queue) implements OwnTransaction<Boolean> {}

    /** Continues a held run. Returns false if the run does not exist or is not held. */
    record ContinueHeldRun(int workspace, RunId run, String actor, String reason)
            implements StoreWriteCommand<Boolean> {}

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
            RunDeduplicationKeyClaim followClaim,
            int firstClaim,
            int seq,
            String entries,
            List<NewRun.StartConditions.QueueLimit> queueLimits,
            List<EffectLedger.LedgerOperation> ops,
            ChangeAuthor by)
            implements OwnTransaction<ResumeResult> {
        /** Sorted in the lock order of queues and effects. */
        public ResumeFailedRun {
            queueLimits = sorted(queueLimits, Comparator.comparing(NewRun.StartConditions.QueueLimit::queue));
            ops = sorted(ops, Comparator.comparing(EffectLedger.LedgerOperation::id));
        }
    }

    enum ResumeResult {
        /** The run is unfinished again. */
        DONE,
        /** The run has not ended, ended differently or at another time, or does not exist. Nothing was changed. */
        MOVED,
        /** Another run follows this end. Nothing was changed. */
        FOLLOWED
    }

    /** Its result, or null if it did not happen. Returns false if it is not in doubt or another request decided it. */
    record DecideEffect(
            EffectLedger.EffectId effect,
            RunId run,
            @Nullable String result,
            ChangeAuthor by) implements StoreWriteCommand<Boolean> {}

    /** A retry gets the same result. {@code expectedVersion}: 0 if there must be none; null for any. */
    record SaveSetting(
            WorkspaceSettingName name,
            String body,
            @Nullable Integer expectedVersion,
            String actor) implements OwnTransaction<SettingResult> {
        @Override
        public boolean changesCatalog() {
            return name.kind().changesCatalog();
        }
    }

    /** Removes a setting by adding a version without a text. Applied again, it returns the same version. */
    record RemoveSetting(
            WorkspaceSettingName name, @Nullable Integer expectedVersion, String actor)
            implements OwnTransaction<SettingResult> {
        @Override
        public boolean changesCatalog() {
            return name.kind().changesCatalog();
        }
    }

    /**
     * Saves or removes a setting only if the catalog version did not change, so that a quota over other settings still
     * holds. Otherwise it returns {@link SettingResult.VersionConflict} and changes nothing. If the setting already has the requested
     * state, it succeeds, so it may be applied twice.
     */
    record ChangeSettingIfCatalogUnchanged(StoreWriteCommand<SettingResult> settingChange, long catalogVersion)
            implements OwnTransaction<SettingResult>, CatalogChange<SettingResult> {
        /** No setting has this version. */
        private static final int NEVER = -1;

        public ChangeSettingIfCatalogUnchanged {
            if (!(settingChange instanceof SaveSetting || settingChange instanceof RemoveSetting)
                    || !settingChange.changesCatalog()) {
                throw new IllegalArgumentException("only settings that change the catalog can depend on its version");
            }
        }

        /** Returns the change to apply at this catalog version: one that must fail if the catalog changed. */
        public StoreWriteCommand<SettingResult> forCatalogVersion(@Nullable Long number) {
            boolean still = number != null && number == catalogVersion;
            return switch (settingChange) {
                case SaveSetting put when !still -> new SaveSetting(put.name(), put.body(), NEVER, put.actor());
                case RemoveSetting remove when !still -> new RemoveSetting(remove.name(), NEVER, remove.actor());
                default -> settingChange;
            };
        }
    }

    /**
     * Records a received webhook delivery and compares its id and signature with those in their window. Returns the
     * delivery with its verdict, also when applied again; null if the hourly limit of rejected deliveries is reached.
     */
    record RecordDelivery(InboundWebhookDelivery delivery, InboundWebhookDelivery.DedupSettings dedup)
            implements OwnTransaction<@Nullable InboundWebhookDelivery> {}

    /** Up to {@code limit} deliveries, payloads and deduplication keys each. Returns their number. */
    record DeleteExpiredDeliveries(int limit) implements OwnTransaction<Integer> {}

    sealed interface SettingResult {
        record Saved(DatabaseRows.SettingRow row) implements SettingResult {}

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
            implements OwnTransaction<Boolean> {
        public SaveSchedules {
            schedules = sorted(schedules, Comparator.comparing(ScheduleUpdate::name));
            abandoned = List.copyOf(abandoned);
        }

        /** If the caller did not list the ticks, the first one represents all. */
        public List<DatabaseRows.TickRow> abandonedTicksOf(DatabaseRows.ScheduleRow row, long now) {
            for (AbandonedTicks one : abandoned) {
                if (one.name().equals(row.name()) && one.nominal() == row.nextNominal()) {
                    return one.ticks();
                }
            }
            long through = row.nextNominal() < now ? now : 0;
            return row.nextNominal() > now
                    ? List.of()
                    : List.of(new DatabaseRows.TickRow(
                            row.workflowId(),
                            row.name(),
                            row.nextNominal(),
                            ScheduleTickOutcome.SKIPPED,
                            ScheduleTickDecision.SkipReason.EDITED.word(),
                            null,
                            now,
                            through));
        }
    }

    /** @param previous the row that was read; null if there was none */
    record ScheduleUpdate(
            String name, String spec, long nextNominal, long nextAt, DatabaseRows.@Nullable ScheduleRow previous) {}

    /** @param nominal the next nominal time of the row that was read */
    record AbandonedTicks(String name, long nominal, List<DatabaseRows.TickRow> ticks) {
        public AbandonedTicks {
            ticks = List.copyOf(ticks);
        }
    }

    /**
     * @param by the id of this request
     * @param duration microseconds
     */
    record ClaimTicks(List<DatabaseRows.ScheduleRow> due, RunId by, long duration)
            implements OwnTransaction<List<DatabaseRows.ScheduleRow>> {
        /** Sorted in the lock order of schedules. */
        public ClaimTicks {
            due = sorted(
                    due,
                    Comparator.comparing(DatabaseRows.ScheduleRow::workflowId)
                            .thenComparing(DatabaseRows.ScheduleRow::name));
        }
    }

    /** Records the outcome of claimed ticks and the next tick of each schedule. Returns how many schedules advanced. */
    record RecordTicks(RunId by, List<ScheduleProgress> progress) implements OwnTransaction<Integer> {
        /** Sorted in the lock order of schedules. */
        public RecordTicks {
            progress = sorted(
                    progress, Comparator.comparing(ScheduleProgress::workflowId).thenComparing(ScheduleProgress::name));
        }
    }

    /**
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
            List<DatabaseRows.TickRow> ticks) {}

    /** Records ticks that a user backfilled and returns how many were recorded. A tick that has a run keeps it. */
    record RecordBackfill(List<DatabaseRows.TickRow> ticks) implements OwnTransaction<Integer> {}

    /** Pauses or resumes one schedule. Returns null if the schedule does not exist. */
    record PauseSchedule(int workspace, String workflowId, String name, boolean paused, ChangeAuthor by)
            implements OwnTransaction<DatabaseRows.@Nullable ScheduleRow> {}

    /**
     * Merges old minute counters into hours and deletes expired counters and facts, up to {@code limit} rows each.
     * Returns the number of deleted rows.
     *
     * @param hourlyBefore older minutes are merged by the hour
     * @param countsBefore the last minute whose counters are deleted
     * @param factsBefore microseconds; older facts are deleted
     */
    record CompactMetrics(long hourlyBefore, long countsBefore, long factsBefore, int limit)
            implements OwnTransaction<Integer> {}

    /** Deletes up to {@code limit} ticks that were recorded before a time, and returns their number. */
    record DeleteOldTicks(long before, int limit) implements OwnTransaction<Integer> {}
}
