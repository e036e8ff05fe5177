package dev.semel.store;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.effect.EffectLedger;
import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** All read-only queries of the store. Used by one thread at a time. */
public interface StoreQueries extends AutoCloseable {
    /** The store's clock, in microseconds. */
    long now();

    /** The jump of the machine's clock that nobody has confirmed yet; null if the store's clock is right. */
    default TrustedClock.@Nullable ClockJump clockJump() {
        return null;
    }

    /** The records of these unique keys, in their order; null for a key that no run holds. Includes expired keys. */
    KeyLookup findKeys(List<RunDeduplicationKey> names);

    /** Key records found by a lookup, and the store's time of the lookup. */
    record KeyLookup(long now, List<@Nullable RunDeduplicationKeyRecord> keyRecords) {}

    DatabaseRows.@Nullable RunRow run(int ws, RunId id);

    /** A run that this worker claimed, in any workspace. */
    DatabaseRows.@Nullable RunRow claimedRun(RunId id);

    /** Runs without their journals, in any order; deleted runs are missing. */
    default List<DatabaseRows.RunRow> runsWithoutJournal(List<RunId> ids) {
        List<DatabaseRows.RunRow> all = new ArrayList<>(ids.size());
        for (RunId id : ids) {
            DatabaseRows.RunRow run = claimedRun(id);
            if (run != null) {
                all.add(run);
            }
        }
        return all;
    }

    /** Claimed runs with their journals, in any order; deleted runs are missing. */
    default List<JournaledRun> runsWithJournal(List<RunId> ids) {
        List<JournaledRun> all = new ArrayList<>(ids.size());
        for (RunId id : ids) {
            DatabaseRows.RunRow run = claimedRun(id);
            if (run != null) {
                all.add(new JournaledRun(run, journal(id)));
            }
        }
        return all;
    }

    /** A run with its journal chunks in order, without the entries stored with its end. */
    record JournaledRun(DatabaseRows.RunRow run, List<JournalChunk> journal) {}

    /** Newest first. */
    List<DatabaseRows.RunRow> runs(RunFilter filter);

    /** Journal chunks of a run in order, without the entries stored with its end. */
    List<JournalChunk> journal(RunId run);

    /** Journal entries that were committed together. */
    record JournalChunk(int seq, String entries) {}

    /** Signals of a run in the order of their arrival. */
    List<DatabaseRows.SignalRow> signals(RunId run);

    /** The number of signals that the run has received, also those that waits have recorded. */
    int signalCount(RunId run);

    /** The signals that no wait of the run has recorded, oldest first. */
    List<DatabaseRows.UnreadSignal> unreadSignals(RunId run);

    /** The value of an unread signal. */
    String signalValue(RunId run, DatabaseRows.UnreadSignal signal);

    EffectLedger.@Nullable EffectRow effect(EffectLedger.EffectId id);

    /** The effects that a run holds in the ledger, in the order of their first attempt. */
    List<EffectLedger.EffectRow> effects(RunId run);

    /** How many earlier sends of a run {@link #pastEffects} returns at most. */
    int MOST_PAST_EFFECTS = 1_000;

    /**
     * Sends of a run that its ledger rows no longer show: RESERVED if a crash cut the attempt off, otherwise the state
     * in which another run or generation followed.
     */
    List<EffectLedger.EffectRow> pastEffects(RunId run);

    /** The effects, also earlier ones, that were sent with this key, newest runs first. */
    List<SentEffect> effectsBySentKey(int ws, String sentKey, int limit);

    /** @param past whether it is an earlier send, see {@link #pastEffects} */
    record SentEffect(EffectLedger.EffectRow row, boolean past) {}

    /** The effects of a run that are reserved or in doubt, in the order of their first attempt. */
    List<EffectLedger.EffectRow> openEffects(RunId run);

    /** Until when the effects of a run with an unknown outcome are safe to send again; 0 if it has none. */
    long resendUntil(RunId run);

    /** How many runs with an unknown outcome stop to be safe to send again before each of these times. */
    List<DatabaseRows.ResendLoss> resendLosses(int ws, long withinHour, long withinDay);

    /** Effects of all workspaces with an unknown outcome whose safe re-sends have ended, oldest first. */
    List<EffectLedger.EffectRow> expiredResends(int limit);

    /** The effects that these runs hold in the ledger, in any order. */
    default List<EffectLedger.EffectRow> effects(List<RunId> runs) {
        List<EffectLedger.EffectRow> all = new ArrayList<>();
        runs.forEach(run -> all.addAll(effects(run)));
        return all;
    }

    /** Effects of a workspace, newest runs first. */
    EffectPage effects(EffectFilter filter);

    /** One page of effects, and the position to continue after; null at the end. */
    record EffectPage(
            List<EffectLedger.EffectRow> found, @Nullable EffectCursor next) {}

    /** Position in a list of effects: the next page starts after it. */
    record EffectCursor(RunId run, String digest) {}

    /** Which ledger rows a list shows. Notes for safe replays are never shown. */
    enum EffectSelection {
        ALL,
        NOT_SUPPRESSED,
        SUPPRESSED
    }

    /**
     * @param object the external object; with it the scan is limited to its effects
     * @param key the effect key
     * @param before only effects after this position
     */
    record EffectFilter(
            int ws,
            EffectLedger.@Nullable EffectState state,
            @Nullable String workflowId,
            @Nullable String object,
            @Nullable String protection,
            @Nullable String key,
            EffectSelection selection,
            @Nullable EffectCursor before,
            int limit) {
        /** At most this many rows are scanned for one page. */
        public static final int MAX_SCANNED = 10_000;

        public static EffectFilter all(int ws, int limit) {
            return in(ws, null, limit);
        }

        public static EffectFilter in(int ws, EffectLedger.@Nullable EffectState state, int limit) {
            return new EffectFilter(ws, state, null, null, null, null, EffectSelection.ALL, null, limit);
        }

        /** The object as the ledger stores it. */
        public @Nullable String storedObject() {
            return object == null ? null : StorableText.shortenForIndex(object);
        }

        public EffectFilter before(@Nullable EffectCursor effectCursor) {
            return new EffectFilter(ws, state, workflowId, object, protection, key, selection, effectCursor, limit);
        }

        public EffectFilter selection(EffectSelection shown) {
            return new EffectFilter(ws, state, workflowId, object, protection, key, shown, before, limit);
        }

        public EffectFilter key(@Nullable String wanted) {
            return new EffectFilter(ws, state, workflowId, object, protection, wanted, selection, before, limit);
        }

        /** Whether a row passes the filter, except for its position. */
        public boolean matches(EffectLedger.EffectRow row) {
            return !row.isStepNote() && matchesSend(row);
        }

        /** Also matches the note of a step, which shows what its run sent. */
        public boolean matchesSend(EffectLedger.EffectRow row) {
            return row.id().workspace() == ws
                    && (selection == EffectSelection.ALL
                            || (selection == EffectSelection.SUPPRESSED) == (row.suppressedBy() != null))
                    && (state == null || row.state() == state && row.resendUntil() == 0)
                    && (workflowId == null || workflowId.equals(row.details().workflowId()))
                    && (object == null
                            || Objects.equals(storedObject(), row.details().object()))
                    && (protection == null || protection.equals(row.details().protection()))
                    && (key == null || key.equals(row.details().key()));
        }
    }

    /** The first {@code limit} runs that this one started, oldest first. */
    List<RunId> children(RunId run, int limit);

    /** The queues that a run occupies or waits in. */
    List<String> queuesOf(RunId run);

    /** The first {@code limit} runs that have a place in this queue. */
    List<QueueHolder> queueHolders(String queue, int limit);

    /**
     * @param limit how many runs may have a place in the queue
     * @param waitingQueues the queues in which the run waits for a place, or a run that it called directly or through
     *     other calls
     */
    record QueueHolder(RunId run, int limit, List<String> waitingQueues) {}

    /** Whether runs wait in a queue with another limit than this one. */
    boolean hasOtherLimit(String queue, int limit);

    /** The other runs of a lineage, given its first run; oldest first. */
    List<RunId> lineage(RunId first);

    /** The other runs of these lineages, by their first run. Lineages of one run are missing. */
    default Map<RunId, List<RunId>> lineages(List<RunId> first) {
        Map<RunId, List<RunId>> all = new HashMap<>();
        for (RunId one : first) {
            List<RunId> others = lineage(one);
            if (!others.isEmpty()) {
                all.put(one, others);
            }
        }
        return all;
    }

    /** Runs that are suspended until a worker has matching code ({@link StoreWrite.Suspension#HELD}), in order. */
    List<HeldRun> heldRuns(@Nullable RunId after, int limit);

    record HeldRun(RunId run, String workflowId) {}

    /** The newest duplicate requests of one run, or those older than {@code before}; newest last. */
    List<StoreWrite.DuplicateRequest> requestsOf(RunId run, @Nullable RunId before, int limit);

    /** All duplicate requests of a workspace, newest first. */
    List<StoreWrite.DuplicateRequest> requests(int ws, @Nullable RunId before, int limit);

    /** Rejected requests with a key that holds no run because of them, newest first. */
    List<StoreWrite.DuplicateRequest> rejectedRequests(int ws, String key, @Nullable RunId before, int limit);

    /** Every key record with this key text, in any scope. */
    List<DatabaseRows.KeyRow> keyRecords(int ws, String key);

    List<DatabaseRows.KeyRow> keys(int ws, String prefix, @Nullable RunDeduplicationKey after, int limit);

    /** Increases with every change of workflows, tokens and cached settings. */
    long catalogVersion();

    DatabaseRows.@Nullable WorkflowRow workflow(int ws, String nameOrId);

    List<DatabaseRows.WorkflowRow> workflows(int ws);

    DatabaseRows.@Nullable VersionRow version(String workflowId, int version);

    /** Versions without their texts, newest first, older than {@code before}. */
    List<DatabaseRows.VersionRow> versions(String workflowId, int before, int limit);

    /** The newest {@code limit} runs of a workflow, counted by version and state. */
    List<DatabaseRows.RunCount> countRuns(int ws, String workflowId, int limit);

    DatabaseRows.@Nullable TokenRow token(byte[] hash);

    List<DatabaseRows.TokenRow> tokens(int ws);

    DatabaseRows.@Nullable WorkspaceRow workspace(String name);

    DatabaseRows.@Nullable WorkspaceRow workspace(int ws);

    /** The current version of a setting; null if it does not exist or was removed. */
    DatabaseRows.@Nullable SettingRow setting(int ws, String kind, String name);

    /** One version of a setting, also one that marks its removal. */
    DatabaseRows.@Nullable SettingRow setting(int ws, String kind, String name, int version);

    /** Current versions by name, after {@code after}. */
    List<DatabaseRows.SettingRow> settings(int ws, String kind, String after, int limit);

    /** The kept versions of a setting, newest first, at most 200. */
    List<DatabaseRows.SettingRow> settingVersions(int ws, String kind, String name);

    /** Deliveries of a webhook source, newest first, without payloads. */
    List<InboundWebhookDelivery> deliveries(int ws, String webhook, @Nullable RunId before, int limit);

    @Nullable
    InboundWebhookDelivery delivery(int ws, String webhook, RunId id);

    /**
     * The delivery that first brought a provider id or a signature; null if it has expired.
     *
     * @param dedupKey from {@link InboundWebhookDelivery#dedupKey} or {@link InboundWebhookDelivery#signatureKey}
     */
    @Nullable
    InboundWebhookDelivery firstDelivery(int ws, String webhook, String dedupKey);

    /** Whether an expired delivery can be deleted. */
    boolean hasExpiredDelivery();

    List<DatabaseRows.AuditRow> audit(int ws, @Nullable RunId before, int limit);

    /** Oldest first. Scans up to {@code limit} runs after {@code from}, but none that were created after that time. */
    OldLineages oldRuns(@Nullable RunId from, int limit, long endedBefore);

    /** First runs of old lineages, and the position to continue after; null at the end. */
    record OldLineages(List<RunId> found, @Nullable RunId next) {}

    /** Scans up to {@code limit} keys after {@code from} for tombstones that expired before {@code before}. */
    TombstonePage tombstones(@Nullable RunDeduplicationKey from, int limit, long before);

    /** One page of expired keys, and the position to continue after; null at the end. */
    record TombstonePage(
            List<StoreWriteCommand.KeyTombstone> found,
            @Nullable RunDeduplicationKey next) {}

    /** Whether an expired reply of an idempotent command can be deleted. */
    boolean hasExpiredReply();

    ScheduleQueries schedules();

    ReplayPlanQueries plans();

    MetricQueries metrics();

    HumanReviewStoreWriteCommand.ReviewQueries reviews();

    /** An event that has not expired. */
    DatabaseRows.@Nullable EventRow event(int ws, String eventId);

    /** Newest first. */
    EventPage events(EventFilter filter);

    /** One page of events, and the position to continue after; null at the end. */
    record EventPage(
            List<DatabaseRows.EventRow> found, @Nullable RunId next) {}

    /**
     * @param unmatched only events that no workflow subscribes to
     * @param before only events older than this one
     */
    record EventFilter(
            int ws,
            @Nullable String type,
            @Nullable String source,
            boolean unmatched,
            long since,
            @Nullable RunId before,
            int limit) {
        /** At most this many rows are scanned for one page. */
        public static final int MAX_SCANNED = 10_000;
    }

    /** The records of unique keys of one kind that start with this text, sorted. */
    List<DatabaseRows.KeyRow> keysStartingWith(int ws, RunDeduplicationKey.KeyKind kind, String prefix, int limit);

    /** The oldest events of a workspace that were received before a time. */
    List<StoreWriteCommand.ExpiredEvent> oldEvents(int ws, long before, int limit);

    /** The next workspace with a higher number; null at the end. */
    @Nullable
    Integer workspaceAfter(int ws);

    /** Whether an expired keyed signal can be deleted; deletion waits {@link KeyedSignalStoreWriteCommand#DELETE_DELAY} after expiry. */
    boolean hasExpiredKeyedSignal();

    /** When the next run without a worker is due, by the store's clock; {@link StoreWrite.Suspension#NEVER} for none. */
    long nextDue();

    /** Unfinished runs of a lease, in order, after {@code after}. */
    List<StoreWrite.RunExecution> runsOfLease(long lease, @Nullable RunId after, int limit);

    /** Every worker with a lease, oldest first, including expired leases that were not taken over yet. */
    List<DatabaseRows.WorkerRow> workers();

    long countUnfinished();

    /**
     * @param from older runs are not scanned, so that a list of the last hour does not read those of a year
     * @param endedSince 0, or the time since which a run must have ended
     */
    record RunFilter(
            int ws,
            @Nullable String workflowId,
            @Nullable RunState state,
            @Nullable String key,
            boolean replayedOnly,
            long since,
            @Nullable RunId before,
            int limit,
            @Nullable RunId from,
            @Nullable String correlationId,
            long endedSince) {
        public RunFilter(
                int ws,
                @Nullable String workflowId,
                @Nullable RunState state,
                @Nullable String key,
                boolean replayedOnly,
                long since,
                @Nullable RunId before,
                int limit,
                @Nullable RunId from) {
            this(ws, workflowId, state, key, replayedOnly, since, before, limit, from, null, 0);
        }

        public RunFilter page(@Nullable RunId behind, int most) {
            return new RunFilter(
                    ws, workflowId, state, key, replayedOnly, since, behind, most, from, correlationId, endedSince);
        }

        public RunFilter withCorrelation(@Nullable String id) {
            return new RunFilter(ws, workflowId, state, key, replayedOnly, since, before, limit, from, id, endedSince);
        }

        public RunFilter withEndedSince(long time) {
            return new RunFilter(
                    ws, workflowId, state, key, replayedOnly, since, before, limit, from, correlationId, time);
        }
    }

    @Override
    void close();
}
