package dev.semel.store.jdbc;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.InboundWebhookDelivery;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.MetricQueries;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.RunDeduplicationKey;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Read queries whose SQL is the same in both dialects. */
public abstract class JdbcStoreQueries extends JdbcQueries implements StoreQueries {
    private static final String RUN = """
        SELECT r.run, r.ws, r.chosen_id, r.workflow_id, r.version, r.trigger_source, r.actor, r.key, r.correlation_id,
            r.input,
               r.lineage, r.previous_run, r.duplicate_of, r.created_at, w.state, w.claim_count, e.state, e.ended_at,
               e.output, e.error_code, e.error_message, e.error_step, e.entries, u.replays, u.conflicts, u.last_at,
               w.crash_count, w.cancel_requested, w.due_at, w.waiting_for, l.parent, l.replay_of, l.depth,
               COALESCE(w.started_at, e.started_at)
        FROM semel_run r
        LEFT JOIN semel_unfinished_run w ON w.run = r.run
        LEFT JOIN semel_finished_run e ON e.run = r.run
        LEFT JOIN semel_duplicate_count u ON u.run = r.run
        LEFT JOIN semel_run_link l ON l.run = r.run
        WHERE r.run = ? AND (CAST(? AS integer) = 0 OR r.ws = ?)
        """;

    private static final String REQUESTS_OF_RUN = """
        SELECT id, ws, run, conflict, at, status_code, actor, changed_fields, request_count, rejected_key
        FROM semel_duplicate_request WHERE run = ? AND id < ? ORDER BY id DESC LIMIT ?
        """;

    private static final String REQUESTS = """
        SELECT id, ws, run, conflict, at, status_code, actor, changed_fields, request_count, rejected_key
        FROM semel_duplicate_request WHERE ws = ? AND id < ? ORDER BY id DESC LIMIT ?
        """;

    private static final String REJECTED_REQUESTS = """
        SELECT id, ws, run, conflict, at, status_code, actor, changed_fields, request_count, rejected_key
        FROM semel_duplicate_request WHERE ws = ? AND rejected_key = ? AND id < ? ORDER BY id DESC LIMIT ?
        """;

    private static final String KEYS = """
        SELECT k.ws, k.kind, k.key, k.run, r.chosen_id, k.digest, r.field_hashes, r.workflow_id, r.version,
               COALESCE(e.state, w.state), r.lineage, k.first_at, k.expires_at, k.flags,
               r.actor, r.correlation_id, u.replays, u.conflicts, u.last_at, e.error_code, e.error_step
        FROM semel_key k
        JOIN semel_run r ON r.run = k.run
        LEFT JOIN semel_unfinished_run w ON w.run = k.run
        LEFT JOIN semel_finished_run e ON e.run = k.run
        LEFT JOIN semel_duplicate_count u ON u.run = k.run
        WHERE k.ws = ? AND k.kind = ? AND k.key >= ? AND k.key < ?
        ORDER BY k.ws, k.kind, k.key LIMIT ?
        """;

    private static final String WORKFLOW = """
        SELECT ws, name, workflow_id, version, paused, created_at, candidate_version, rollout_percent,
            (SELECT MAX(v.version) FROM semel_workflow_version v WHERE v.workflow_id = semel_workflow.workflow_id)
        FROM semel_workflow WHERE ws = ? AND name = ?
        """;

    private static final String WORKFLOW_BY_ID = """
        SELECT ws, name, workflow_id, version, paused, created_at, candidate_version, rollout_percent,
            (SELECT MAX(v.version) FROM semel_workflow_version v WHERE v.workflow_id = semel_workflow.workflow_id)
        FROM semel_workflow WHERE ws = ? AND workflow_id = ?
        """;

    private static final String WORKFLOWS = """
        SELECT ws, name, workflow_id, version, paused, created_at, candidate_version, rollout_percent,
            (SELECT MAX(v.version) FROM semel_workflow_version v WHERE v.workflow_id = semel_workflow.workflow_id)
        FROM semel_workflow WHERE ws = ? ORDER BY name
        """;

    private static final String VERSION = """
        SELECT v.workflow_id, w.name, w.ws, v.version, v.body, v.published_at, v.published_by
        FROM semel_workflow_version v JOIN semel_workflow w ON w.workflow_id = v.workflow_id
        WHERE v.workflow_id = ? AND v.version = ?
        """;

    private static final String VERSIONS = """
        SELECT v.workflow_id, w.name, w.ws, v.version, '', v.published_at, v.published_by
        FROM semel_workflow_version v JOIN semel_workflow w ON w.workflow_id = v.workflow_id
        WHERE v.workflow_id = ? AND v.version < ? ORDER BY v.version DESC LIMIT ?
        """;

    private static final String TALLY = """
        SELECT n.version, COALESCE(e.state, w.state), COUNT(*)
        FROM (SELECT run, version FROM semel_run WHERE ws = ? AND workflow_id = ? ORDER BY run DESC LIMIT ?) n
        LEFT JOIN semel_finished_run e ON e.run = n.run
        LEFT JOIN semel_unfinished_run w ON w.run = n.run
        GROUP BY n.version, COALESCE(e.state, w.state) ORDER BY n.version DESC, COALESCE(e.state, w.state)
        """;

    private static final String TOKEN = """
        SELECT t.token_id, t.ws, w.name, t.name, t.hash, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at,
               t.created_by
        FROM semel_token t JOIN semel_workspace w ON w.ws = t.ws WHERE t.hash = ? AND t.revoked_at = 0
        """;

    private static final String TOKENS = """
        SELECT t.token_id, t.ws, w.name, t.name, t.hash, t.scopes, t.quota_per_minute, t.created_at, t.revoked_at,
               t.created_by
        FROM semel_token t JOIN semel_workspace w ON w.ws = t.ws WHERE t.ws = ? ORDER BY t.created_at, t.token_id
        """;

    private static final String AUDIT = """
        SELECT id, at, actor, action, target, reason FROM semel_audit WHERE ws = ? AND id < ?
        ORDER BY id DESC LIMIT ?
        """;

    private static final String WORKERS = """
        SELECT lease, worker, version, started_at, renewed_at, expires_at, run_count, clock_ahead
        FROM semel_lease ORDER BY started_at, lease
        """;

    private static final String NAMES_AFTER = """
        SELECT k.ws, k.kind, k.key, k.expires_at, k.run, e.run
        FROM semel_key k LEFT JOIN semel_finished_run e ON e.run = k.run
        WHERE (k.ws, k.kind, k.key) > (?, ?, ?)
        ORDER BY k.ws, k.kind, k.key LIMIT ?
        """;

    protected JdbcStoreQueries(JdbcSession session) {
        super(session);
    }

    @Override
    public DatabaseRows.@Nullable RunRow run(int ws, RunId id) {
        if (ws <= 0) {
            throw new IllegalArgumentException("run(): the workspace number must be positive");
        }
        return one(RUN, RowMappers::mapRun, id, ws, ws);
    }

    @Override
    public DatabaseRows.@Nullable RunRow claimedRun(RunId id) {
        return one(RUN, RowMappers::mapRun, id, 0, 0);
    }

    @Override
    public List<DatabaseRows.RunRow> runs(RunFilter filter) {
        String key = filter.key();
        if (key != null) {
            return runsOfKey(key, filter);
        }
        return query(() -> new RunListQueries(session).list(filter, () -> workflows(filter.ws())));
    }

    /** The current runs of a key and their earlier runs, newest first: each step reads the newest that is left. */
    private List<DatabaseRows.RunRow> runsOfKey(String key, RunFilter filter) {
        TreeSet<RunId> left = new TreeSet<>();
        keyRecords(filter.ws(), key).forEach(held -> left.add(held.keyRecord().run()));
        List<DatabaseRows.RunRow> found = new ArrayList<>();
        while (!left.isEmpty() && found.size() < filter.limit()) {
            DatabaseRows.RunRow run = run(filter.ws(), left.removeLast());
            if (run != null && run.previous() != null) {
                left.add(run.previous());
            }
            if (run != null && matches(run, filter)) {
                found.add(run);
            }
        }
        return found;
    }

    private static boolean matches(DatabaseRows.RunRow run, RunFilter filter) {
        return (filter.workflowId() == null || filter.workflowId().equals(run.workflowId()))
                && (filter.state() == null || filter.state() == run.state())
                && (!filter.replayedOnly() || run.counts().replays() > 0)
                && (filter.before() == null || run.id().compareTo(filter.before()) < 0)
                && (filter.from() == null || run.id().compareTo(filter.from()) >= 0)
                && (filter.correlationId() == null
                        || filter.correlationId().equals(run.origin().correlationId()))
                && (filter.endedSince() == 0 || (run.end() != null && run.end().endedAt() >= filter.endedSince()))
                && run.createdAt() >= filter.since();
    }

    @Override
    public List<JournalChunk> journal(RunId run) {
        return list(
                "SELECT seq, entries FROM semel_journal WHERE run = ? ORDER BY seq",
                row -> new JournalChunk(row.getInt(1), row.getString(2)),
                run);
    }

    @Override
    public List<DatabaseRows.SignalRow> signals(RunId run) {
        return query(() -> JdbcCancelAndSignalWriter.listSignals(session, run));
    }

    @Override
    public int signalCount(RunId run) {
        return query(() -> JdbcCancelAndSignalWriter.countSignals(session, run));
    }

    @Override
    public List<DatabaseRows.UnreadSignal> unreadSignals(RunId run) {
        return query(() -> JdbcCancelAndSignalWriter.listUnread(session, run));
    }

    @Override
    public String signalValue(RunId run, DatabaseRows.UnreadSignal signal) {
        return query(() -> JdbcCancelAndSignalWriter.findValue(session, run, signal));
    }

    @Override
    public EffectLedger.@Nullable EffectRow effect(EffectLedger.EffectId id) {
        return queryNullable(() -> EffectLedgerRepository.find(session, id));
    }

    @Override
    public List<EffectLedger.EffectRow> effects(RunId run) {
        return query(() -> EffectLedgerRepository.listByRun(session, run));
    }

    @Override
    public long resendUntil(RunId run) {
        return query(() -> EffectLedgerRepository.findResendUntil(session, run));
    }

    @Override
    public List<DatabaseRows.ResendLoss> resendLosses(int ws, long withinHour, long withinDay) {
        return query(() -> EffectLedgerRepository.listResendLosses(session, ws, withinHour, withinDay));
    }

    @Override
    public List<EffectLedger.EffectRow> expiredResends(int limit) {
        long now = now();
        return query(() -> EffectLedgerRepository.listExpiredResends(session, now, limit));
    }

    @Override
    public List<EffectLedger.EffectRow> pastEffects(RunId run) {
        return query(() -> EffectLedgerRepository.listPastByRun(session, run, MOST_PAST_EFFECTS));
    }

    @Override
    public List<SentEffect> effectsBySentKey(int ws, String sentKey, int limit) {
        return query(() -> EffectLedgerRepository.listBySentKey(session, ws, sentKey, limit));
    }

    @Override
    public List<EffectLedger.EffectRow> openEffects(RunId run) {
        return query(() -> EffectLedgerRepository.listOpenByRun(session, run));
    }

    @Override
    public List<RunId> children(RunId run, int limit) {
        return list(
                "SELECT run FROM semel_run_link WHERE parent = ? ORDER BY run LIMIT ?",
                row -> RunId.of(row.getBytes(1)),
                run,
                limit);
    }

    @Override
    public List<String> queuesOf(RunId run) {
        return list("SELECT queue FROM semel_queue_entry WHERE run = ? ORDER BY queue", row -> row.getString(1), run);
    }

    @Override
    public List<QueueHolder> queueHolders(String queue, int limit) {
        return query(() -> new JdbcConcurrencyAndRateLimiter(session).listHolders(queue, limit));
    }

    @Override
    public boolean hasOtherLimit(String queue, int limit) {
        return exists("""
            SELECT 1 FROM semel_queue_entry WHERE queue = ? AND started = 0 AND concurrency_limit <> ? LIMIT 1
            """, queue, limit);
    }

    @Override
    public List<RunId> lineage(RunId first) {
        return list(
                "SELECT run FROM semel_run WHERE lineage = ? AND lineage <> run ORDER BY run",
                row -> RunId.of(row.getBytes(1)),
                first);
    }

    @Override
    public List<HeldRun> heldRuns(@Nullable RunId after, int limit) {
        return list(
                """
                SELECT run, workflow_id FROM semel_unfinished_run
                WHERE owner IS NULL AND start_blocked = 0 AND due_at = ? AND run > ? ORDER BY due_at, run LIMIT ?
                """,
                row -> new HeldRun(RunId.of(row.getBytes(1)), row.getString(2)),
                StoreWrite.Suspension.HELD,
                after == null ? new byte[0] : after.bytes(),
                limit);
    }

    @Override
    public List<StoreWrite.DuplicateRequest> requestsOf(RunId run, @Nullable RunId before, int limit) {
        return list(REQUESTS_OF_RUN, RowMappers::mapDuplicateRequest, run, upTo(before), limit)
                .reversed();
    }

    @Override
    public List<StoreWrite.DuplicateRequest> requests(int ws, @Nullable RunId before, int limit) {
        return list(REQUESTS, RowMappers::mapDuplicateRequest, ws, upTo(before), limit);
    }

    @Override
    public List<StoreWrite.DuplicateRequest> rejectedRequests(int ws, String key, @Nullable RunId before, int limit) {
        return list(REJECTED_REQUESTS, RowMappers::mapDuplicateRequest, ws, key, upTo(before), limit);
    }

    @Override
    public List<DatabaseRows.KeyRow> keyRecords(int ws, String key) {
        List<DatabaseRows.KeyRow> found = new ArrayList<>();
        // Workflow keys and distinct keys are the key, a newline and more: they sort between newline and vertical tab.
        found.addAll(
                list(KEYS, RowMappers::mapKeyRow, ws, RunDeduplicationKey.KeyKind.KEY.code(), key, key + "\u0001", 1));
        for (RunDeduplicationKey.KeyKind kind :
                List.of(RunDeduplicationKey.KeyKind.WORKFLOW_KEY, RunDeduplicationKey.KeyKind.DISTINCT_KEY)) {
            found.addAll(
                    list(KEYS, RowMappers::mapKeyRow, ws, kind.code(), key + "\n", key + "\u000b", Integer.MAX_VALUE));
        }
        found.sort(Comparator.comparingLong(
                        (DatabaseRows.KeyRow held) -> held.keyRecord().firstAt())
                .reversed());
        return found;
    }

    @Override
    public List<DatabaseRows.KeyRow> keys(int ws, String prefix, @Nullable RunDeduplicationKey after, int limit) {
        List<DatabaseRows.KeyRow> found = new ArrayList<>();
        for (RunDeduplicationKey.KeyKind kind : List.of(
                RunDeduplicationKey.KeyKind.KEY,
                RunDeduplicationKey.KeyKind.WORKFLOW_KEY,
                RunDeduplicationKey.KeyKind.DISTINCT_KEY)) {
            if (found.size() >= limit || (after != null && after.kind().code() > kind.code())) {
                continue;
            }
            String from = after != null && after.kind() == kind ? after.text() + "\u0001" : prefix;
            int room = limit - found.size();
            found.addAll(list(KEYS, RowMappers::mapKeyRow, ws, kind.code(), from, prefix + "\u007f", room));
        }
        return found;
    }

    @Override
    public List<DatabaseRows.KeyRow> keysStartingWith(
            int ws, RunDeduplicationKey.KeyKind kind, String prefix, int limit) {
        return list(KEYS, RowMappers::mapKeyRow, ws, kind.code(), prefix, prefix + "\u007f", limit);
    }

    @Override
    public DatabaseRows.@Nullable EventRow event(int ws, String eventId) {
        return queryNullable(() -> InboundEventRepository.find(session, ws, eventId));
    }

    @Override
    public EventPage events(EventFilter filter) {
        return query(() -> InboundEventRepository.list(session, filter, upTo(filter.before())));
    }

    @Override
    public List<StoreWriteCommand.ExpiredEvent> oldEvents(int ws, long before, int limit) {
        return query(() -> InboundEventRepository.findExpired(session, ws, before, limit));
    }

    @Override
    public @Nullable Integer workspaceAfter(int ws) {
        return one("SELECT ws FROM semel_workspace WHERE ws > ? ORDER BY ws LIMIT 1", row -> row.getInt(1), ws);
    }

    @Override
    public long catalogVersion() {
        Long change = one("SELECT revision FROM semel_catalog", row -> row.getLong(1));
        return change == null ? 0 : change;
    }

    @Override
    public DatabaseRows.@Nullable WorkflowRow workflow(int ws, String nameOrId) {
        DatabaseRows.WorkflowRow byName = one(WORKFLOW, RowMappers::mapWorkflow, ws, nameOrId);
        return byName != null ? byName : one(WORKFLOW_BY_ID, RowMappers::mapWorkflow, ws, nameOrId);
    }

    @Override
    public List<DatabaseRows.WorkflowRow> workflows(int ws) {
        return list(WORKFLOWS, RowMappers::mapWorkflow, ws);
    }

    @Override
    public DatabaseRows.@Nullable VersionRow version(String workflowId, int version) {
        return one(VERSION, RowMappers::mapVersion, workflowId, version);
    }

    @Override
    public List<DatabaseRows.VersionRow> versions(String workflowId, int before, int limit) {
        return list(VERSIONS, RowMappers::mapVersion, workflowId, before, limit);
    }

    @Override
    public List<DatabaseRows.RunCount> countRuns(int ws, String workflowId, int limit) {
        return list(
                TALLY,
                row -> new DatabaseRows.RunCount(row.getInt(1), RunState.of(row.getInt(2)), row.getLong(3)),
                ws,
                workflowId,
                limit);
    }

    @Override
    public DatabaseRows.@Nullable TokenRow token(byte[] hash) {
        return one(TOKEN, RowMappers::mapToken, hash);
    }

    @Override
    public List<DatabaseRows.TokenRow> tokens(int ws) {
        return list(TOKENS, RowMappers::mapToken, ws);
    }

    @Override
    public DatabaseRows.@Nullable WorkspaceRow workspace(String name) {
        return one("SELECT ws, name, secret FROM semel_workspace WHERE name = ?", RowMappers::mapWorkspace, name);
    }

    @Override
    public DatabaseRows.@Nullable WorkspaceRow workspace(int ws) {
        return one("SELECT ws, name, secret FROM semel_workspace WHERE ws = ?", RowMappers::mapWorkspace, ws);
    }

    @Override
    public DatabaseRows.@Nullable SettingRow setting(int ws, String kind, String name) {
        return queryNullable(() -> JdbcWorkspaceSettingWriter.findCurrent(session, ws, kind, name));
    }

    @Override
    public DatabaseRows.@Nullable SettingRow setting(int ws, String kind, String name, int version) {
        return queryNullable(() -> JdbcWorkspaceSettingWriter.findVersion(session, ws, kind, name, version));
    }

    @Override
    public List<DatabaseRows.SettingRow> settings(int ws, String kind, String after, int limit) {
        return query(() -> JdbcWorkspaceSettingWriter.list(session, ws, kind, after, limit));
    }

    @Override
    public List<DatabaseRows.SettingRow> settingVersions(int ws, String kind, String name) {
        return query(() -> JdbcWorkspaceSettingWriter.listVersions(session, ws, kind, name));
    }

    @Override
    public List<InboundWebhookDelivery> deliveries(int ws, String webhook, @Nullable RunId before, int limit) {
        return query(() -> JdbcInboundWebhookDeliveryWriter.list(session, ws, webhook, upTo(before), limit));
    }

    @Override
    public @Nullable InboundWebhookDelivery delivery(int ws, String webhook, RunId id) {
        return queryNullable(() -> JdbcInboundWebhookDeliveryWriter.find(session, ws, webhook, id));
    }

    @Override
    public @Nullable InboundWebhookDelivery firstDelivery(int ws, String webhook, String dedupKey) {
        return queryNullable(() -> JdbcInboundWebhookDeliveryWriter.findFirst(session, ws, webhook, dedupKey));
    }

    @Override
    public boolean hasExpiredDelivery() {
        long now = now();
        return exists(JdbcInboundWebhookDeliveryWriter.EXPIRED, now, now, now);
    }

    @Override
    public List<DatabaseRows.AuditRow> audit(int ws, @Nullable RunId before, int limit) {
        return list(AUDIT, RowMappers::mapAudit, ws, upTo(before), limit);
    }

    @Override
    public TombstonePage tombstones(@Nullable RunDeduplicationKey from, int limit, long before) {
        RunDeduplicationKey start =
                from == null ? new RunDeduplicationKey(0, RunDeduplicationKey.KeyKind.KEY, "") : from;
        List<TombstoneCandidate> slice = list(
                NAMES_AFTER,
                row -> new TombstoneCandidate(
                        new StoreWriteCommand.KeyTombstone(
                                new RunDeduplicationKey(
                                        row.getInt(1), RunDeduplicationKey.KeyKind.of(row.getInt(2)), row.getString(3)),
                                RunId.of(row.getBytes(5)),
                                row.getLong(4)),
                        row.getBytes(6) != null),
                start.workspace(),
                start.kind().code(),
                start.text(),
                limit);
        List<StoreWriteCommand.KeyTombstone> found = slice.stream()
                .filter(one -> one.ended() && one.tombstone().expiresAt() < before)
                .map(TombstoneCandidate::tombstone)
                .toList();
        return new TombstonePage(
                found, slice.size() < limit ? null : slice.getLast().tombstone().key());
    }

    @Override
    public OldLineages oldRuns(@Nullable RunId from, int limit, long endedBefore) {
        return query(() -> FinishedRunCleanup.findOldLineages(session, from, limit, endedBefore));
    }

    /** An expired key that may be deleted, and whether its run has ended. */
    private record TombstoneCandidate(StoreWriteCommand.KeyTombstone tombstone, boolean ended) {}

    @Override
    public boolean hasExpiredReply() {
        long now = now();
        return exists("SELECT 1 FROM semel_idempotent_response WHERE expires_at <= ? LIMIT 1", now);
    }

    @Override
    public ReplayPlanQueries plans() {
        return new JdbcReplayPlanQueries(session);
    }

    @Override
    public MetricQueries metrics() {
        return new JdbcMetricQueries(session);
    }

    @Override
    public HumanReviewStoreWriteCommand.ReviewQueries reviews() {
        return new JdbcHumanReviewQueries(session);
    }

    @Override
    public EffectPage effects(EffectFilter filter) {
        return query(() -> EffectListQueries.list(session, filter));
    }

    @Override
    public ScheduleQueries schedules() {
        return new JdbcScheduleQueries(session);
    }

    @Override
    public boolean hasExpiredKeyedSignal() {
        long before = now() - KeyedSignalStoreWriteCommand.DELETE_DELAY.toNanos() / 1_000;
        return exists("SELECT 1 FROM semel_keyed_signal WHERE expires_at <= ? LIMIT 1", before);
    }

    @Override
    public long nextDue() {
        Long due = one("""
            SELECT due_at FROM semel_unfinished_run
            WHERE owner IS NULL AND start_blocked = 0 ORDER BY due_at, run LIMIT 1
            """, row -> row.getLong(1));
        return due == null || due == StoreWrite.Suspension.HELD ? StoreWrite.Suspension.NEVER : due;
    }

    @Override
    public List<StoreWrite.RunExecution> runsOfLease(long lease, @Nullable RunId after, int limit) {
        return list(
                "SELECT run, claim_count FROM semel_unfinished_run WHERE run > ? AND owner = ? ORDER BY run LIMIT ?",
                row -> new StoreWrite.RunExecution(RunId.of(row.getBytes(1)), row.getInt(2)),
                after == null ? new byte[0] : after.bytes(),
                lease,
                limit);
    }

    @Override
    public List<DatabaseRows.WorkerRow> workers() {
        return list(WORKERS, RowMappers::mapWorker);
    }

    @Override
    public long countUnfinished() {
        Long count = one("SELECT count(*) FROM semel_unfinished_run", row -> row.getLong(1));
        return count == null ? 0 : count;
    }

    /** The end of a list that continues before this run, or that begins with the newest. */
    private static RunId upTo(@Nullable RunId before) {
        return before == null ? RunId.MAX : before;
    }

    @Override
    public void close() {
        try {
            session.close();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not close a read connection", e);
        }
    }
}
