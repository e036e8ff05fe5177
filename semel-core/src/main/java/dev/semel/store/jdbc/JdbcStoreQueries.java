package dev.semel.store.jdbc;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.WebhookDelivery;
import dev.semel.store.StoreCommand;
import dev.semel.store.MetricQueries;
import dev.semel.store.KeyedSignalOperation;
import dev.semel.store.UniqueKey;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.StoreWrite;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Read queries whose SQL is the same in both dialects. */
public abstract class JdbcStoreQueries implements StoreQueries {
    private static final int EARLIER_RUNS_OF_A_KEY = 100;
    private static final byte[] AFTER_ALL = new RunId(-1L, -1L).bytes();

    private static final String RUN = """
        SELECT r.run, r.ws, r.chosen_id, r.workflow_id, r.version, r.trigger_source, r.actor, r.key, r.correlation_id,
            r.input,
               r.lineage, r.previous_run, r.duplicate_of, r.created_at, w.state, w.claim_count, e.state, e.ended_at,
               e.output, e.error_code, e.error_message, e.error_step, e.entries, u.replays, u.conflicts, u.last_at,
               w.crash_count, w.cancel_requested, w.due_at, w.waiting_for, l.parent, l.replay_of, l.depth
        FROM semel_run r
        LEFT JOIN semel_unfinished_run w ON w.run = r.run
        LEFT JOIN semel_finished_run e ON e.run = r.run
        LEFT JOIN semel_duplicate_count u ON u.run = r.run
        LEFT JOIN semel_run_link l ON l.run = r.run
        WHERE r.run = ? AND (CAST(? AS integer) = 0 OR r.ws = ?)
        """;

    private static final String REQUESTS_OF_RUN = """
        SELECT id, ws, run, conflict, at, status_code, actor, changed_fields, request_count
        FROM semel_duplicate_request WHERE run = ? AND id < ? ORDER BY id DESC LIMIT ?
        """;

    private static final String REQUESTS = """
        SELECT id, ws, run, conflict, at, status_code, actor, changed_fields, request_count
        FROM semel_duplicate_request WHERE ws = ? AND id < ? ORDER BY id DESC LIMIT ?
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

    protected final JdbcSession session;

    protected JdbcStoreQueries(JdbcSession session) {
        this.session = session;
    }

    @Override
    public StoredRows.@Nullable RunRow run(int ws, RunId id) {
        if (ws <= 0) {
            throw new IllegalArgumentException("run(): the workspace number must be positive");
        }
        return queryNullable(() -> session.queryOne(RUN, RowMappers::mapRun, id, ws, ws));
    }

    @Override
    public StoredRows.@Nullable RunRow claimedRun(RunId id) {
        return queryNullable(() -> session.queryOne(RUN, RowMappers::mapRun, id, 0, 0));
    }

    @Override
    public List<StoredRows.RunRow> runs(RunFilter filter) {
        String key = filter.key();
        if (key != null) {
            return runsOfKey(key, filter);
        }
        return query(() -> new RunListQueries(session).list(filter, () -> workflows(filter.ws())));
    }

    /**
     * Returns the current run of a key and its earlier runs. Uses the key's index, so the number of runs does not
     * matter.
     */
    private List<StoredRows.RunRow> runsOfKey(String key, RunFilter filter) {
        TreeMap<RunId, StoredRows.RunRow> found = new TreeMap<>(Comparator.reverseOrder());
        for (StoredRows.KeyRow held : keyRecords(filter.ws(), key)) {
            RunId next = held.keyRecord().run();
            for (int i = 0; next != null && i < EARLIER_RUNS_OF_A_KEY; i++) {
                StoredRows.RunRow run = run(filter.ws(), next);
                if (run != null && matches(run, filter)) {
                    found.put(run.id(), run);
                }
                next = run == null ? null : run.previous();
            }
        }
        return found.values().stream().limit(filter.limit()).toList();
    }

    private static boolean matches(StoredRows.RunRow run, RunFilter filter) {
        return (filter.workflowId() == null || filter.workflowId().equals(run.workflowId()))
                && (filter.state() == null || filter.state() == run.state())
                && (!filter.replayedOnly() || run.counts().replays() > 0)
                && (filter.before() == null || run.id().compareTo(filter.before()) < 0)
                && (filter.from() == null || run.id().compareTo(filter.from()) >= 0)
                && run.createdAt() >= filter.since();
    }

    @Override
    public List<JournalChunk> journal(RunId run) {
        return query(() -> session.queryList(
                "SELECT seq, entries FROM semel_journal WHERE run = ? ORDER BY seq",
                row -> new JournalChunk(row.getInt(1), row.getString(2)),
                run));
    }

    @Override
    public List<StoredRows.SignalRow> signals(RunId run) {
        return query(() -> RunControlWriter.listSignals(session, run));
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
    public List<RunId> children(RunId run) {
        return query(() -> session.queryList(
                "SELECT run FROM semel_run_link WHERE parent = ? ORDER BY run LIMIT 1000",
                row -> RunId.of(row.getBytes(1)),
                run));
    }

    @Override
    public List<String> queuesOf(RunId run) {
        return query(() -> session.queryList(
                "SELECT queue FROM semel_queue_entry WHERE run = ? ORDER BY queue", row -> row.getString(1), run));
    }

    @Override
    public List<RunId> lineage(RunId first) {
        return query(() -> session.queryList(
                "SELECT run FROM semel_run WHERE lineage = ? AND lineage <> run ORDER BY run LIMIT 1000",
                row -> RunId.of(row.getBytes(1)),
                first));
    }

    @Override
    public List<HeldRun> heldRuns(@Nullable RunId after, int limit) {
        return query(() -> session.queryList(
                """
                SELECT run, workflow_id FROM semel_unfinished_run
                WHERE owner IS NULL AND start_blocked = 0 AND due_at = ? AND run > ? ORDER BY due_at, run LIMIT ?
                """,
                row -> new HeldRun(RunId.of(row.getBytes(1)), row.getString(2)),
                StoreWrite.Suspension.HELD,
                after == null ? new byte[0] : after.bytes(),
                limit));
    }

    @Override
    public List<StoreWrite.DuplicateRequest> requestsOf(RunId run, @Nullable RunId before, int limit) {
        byte[] from = before == null ? AFTER_ALL : before.bytes();
        return query(() -> session.queryList(REQUESTS_OF_RUN, RowMappers::mapDuplicateRequest, run, from, limit))
                .reversed();
    }

    @Override
    public List<StoreWrite.DuplicateRequest> requests(int ws, @Nullable RunId before, int limit) {
        return query(() -> session.queryList(REQUESTS, RowMappers::mapDuplicateRequest, ws, before == null ? AFTER_ALL : before.bytes(), limit));
    }

    @Override
    public List<StoredRows.KeyRow> keyRecords(int ws, String key) {
        List<StoredRows.KeyRow> found = new ArrayList<>();
        // Workflow keys and distinct keys are the key, a newline and more: they sort between newline and vertical tab.
        found.addAll(query(() -> session.queryList(KEYS, RowMappers::mapKeyRow, ws, UniqueKey.KeyKind.KEY.code(), key, key + "\u0001", 1)));
        for (UniqueKey.KeyKind kind : List.of(UniqueKey.KeyKind.WORKFLOW_KEY, UniqueKey.KeyKind.DISTINCT_KEY)) {
            found.addAll(query(() -> session.queryList(KEYS, RowMappers::mapKeyRow, ws, kind.code(), key + "\n", key + "\u000b", 100)));
        }
        found.sort(Comparator.comparingLong((StoredRows.KeyRow held) -> held.keyRecord().firstAt())
                .reversed());
        return found;
    }

    @Override
    public List<StoredRows.KeyRow> keys(int ws, String prefix, @Nullable UniqueKey after, int limit) {
        List<StoredRows.KeyRow> found = new ArrayList<>();
        for (UniqueKey.KeyKind kind : List.of(UniqueKey.KeyKind.KEY, UniqueKey.KeyKind.WORKFLOW_KEY, UniqueKey.KeyKind.DISTINCT_KEY)) {
            if (found.size() >= limit || (after != null && after.kind().code() > kind.code())) {
                continue;
            }
            String from = after != null && after.kind() == kind ? after.text() + "\u0001" : prefix;
            int room = limit - found.size();
            found.addAll(query(() -> session.queryList(KEYS, RowMappers::mapKeyRow, ws, kind.code(), from, prefix + "\u007f", room)));
        }
        return found;
    }

    @Override
    public List<StoredRows.KeyRow> keysStartingWith(int ws, UniqueKey.KeyKind kind, String prefix, int limit) {
        return query(() -> session.queryList(KEYS, RowMappers::mapKeyRow, ws, kind.code(), prefix, prefix + "\u007f", limit));
    }

    @Override
    public StoredRows.@Nullable EventRow event(int ws, String eventId) {
        return queryNullable(() -> InboundEventRepository.find(session, ws, eventId));
    }

    @Override
    public EventPage events(EventFilter filter) {
        RunId before = filter.before();
        return query(() -> InboundEventRepository.list(session, filter, before == null ? AFTER_ALL : before.bytes()));
    }

    @Override
    public List<StoreCommand.ExpiredEvent> oldEvents(int ws, long before, int limit) {
        return query(() -> InboundEventRepository.findExpired(session, ws, before, limit));
    }

    @Override
    public @Nullable Integer workspaceAfter(int ws) {
        return queryNullable(() -> session.queryOne(
                "SELECT ws FROM semel_workspace WHERE ws > ? ORDER BY ws LIMIT 1", row -> row.getInt(1), ws));
    }

    @Override
    public long catalogVersion() {
        Long change = queryNullable(() -> session.queryOne("SELECT revision FROM semel_catalog", row -> row.getLong(1)));
        return change == null ? 0 : change;
    }

    @Override
    public StoredRows.@Nullable WorkflowRow workflow(int ws, String nameOrId) {
        StoredRows.WorkflowRow byName = queryNullable(() -> session.queryOne(WORKFLOW, RowMappers::mapWorkflow, ws, nameOrId));
        return byName != null ? byName : queryNullable(() -> session.queryOne(WORKFLOW_BY_ID, RowMappers::mapWorkflow, ws, nameOrId));
    }

    @Override
    public List<StoredRows.WorkflowRow> workflows(int ws) {
        return query(() -> session.queryList(WORKFLOWS, RowMappers::mapWorkflow, ws));
    }

    @Override
    public StoredRows.@Nullable VersionRow version(String workflowId, int version) {
        return queryNullable(() -> session.queryOne(VERSION, RowMappers::mapVersion, workflowId, version));
    }

    @Override
    public List<StoredRows.VersionRow> versions(String workflowId, int before, int limit) {
        return query(() -> session.queryList(VERSIONS, RowMappers::mapVersion, workflowId, before, limit));
    }

    @Override
    public List<StoredRows.RunCount> countRuns(int ws, String workflowId, int limit) {
        return query(() -> session.queryList(
                TALLY,
                row -> new StoredRows.RunCount(row.getInt(1), RunState.of(row.getInt(2)), row.getLong(3)),
                ws,
                workflowId,
                limit));
    }

    @Override
    public StoredRows.@Nullable TokenRow token(byte[] hash) {
        return queryNullable(() -> session.queryOne(TOKEN, RowMappers::mapToken, hash));
    }

    @Override
    public List<StoredRows.TokenRow> tokens(int ws) {
        return query(() -> session.queryList(TOKENS, RowMappers::mapToken, ws));
    }

    @Override
    public StoredRows.@Nullable WorkspaceRow workspace(String name) {
        return queryNullable(() ->
                session.queryOne("SELECT ws, name, secret FROM semel_workspace WHERE name = ?", RowMappers::mapWorkspace, name));
    }

    @Override
    public StoredRows.@Nullable WorkspaceRow workspace(int ws) {
        return queryNullable(
                () -> session.queryOne("SELECT ws, name, secret FROM semel_workspace WHERE ws = ?", RowMappers::mapWorkspace, ws));
    }

    @Override
    public StoredRows.@Nullable SettingRow setting(int ws, String kind, String name) {
        return queryNullable(() -> SettingWriter.findCurrent(session, ws, kind, name));
    }

    @Override
    public StoredRows.@Nullable SettingRow setting(int ws, String kind, String name, int version) {
        return queryNullable(() -> SettingWriter.findVersion(session, new SettingWriter.SettingVersionId(ws, kind, name, version)));
    }

    @Override
    public List<StoredRows.SettingRow> settings(int ws, String kind, String after, int limit) {
        return query(() -> SettingWriter.list(session, new SettingWriter.SettingPageRequest(ws, kind, after, limit)));
    }

    @Override
    public List<StoredRows.SettingRow> settingVersions(int ws, String kind, String name) {
        return query(() -> SettingWriter.listVersions(session, ws, kind, name));
    }

    @Override
    public List<WebhookDelivery> deliveries(int ws, String hook, @Nullable RunId before, int limit) {
        return query(() ->
                WebhookDeliveryWriter.list(session, ws, hook, List.of(before == null ? AFTER_ALL : before.bytes(), limit)));
    }

    @Override
    public @Nullable WebhookDelivery delivery(int ws, String hook, RunId id) {
        return queryNullable(() -> WebhookDeliveryWriter.find(session, ws, hook, id));
    }

    @Override
    public @Nullable WebhookDelivery firstDelivery(int ws, String hook, String eventId) {
        return queryNullable(() -> WebhookDeliveryWriter.findFirst(session, ws, hook, eventId));
    }

    @Override
    public boolean hasExpiredDelivery() {
        long now = now();
        return queryNullable(() -> WebhookDeliveryWriter.findExpired(session, now)) != null;
    }

    @Override
    public List<StoredRows.AuditRow> audit(int ws, @Nullable RunId before, int limit) {
        return query(() -> session.queryList(AUDIT, RowMappers::mapAudit, ws, before == null ? AFTER_ALL : before.bytes(), limit));
    }

    @Override
    public TombstonePage tombstones(@Nullable UniqueKey from, int limit, long before) {
        UniqueKey start = from == null ? new UniqueKey(0, UniqueKey.KeyKind.KEY, "") : from;
        List<TombstoneCandidate> slice = query(() -> session.queryList(
                NAMES_AFTER,
                row -> new TombstoneCandidate(
                        new StoreCommand.KeyTombstone(
                                new UniqueKey(row.getInt(1), UniqueKey.KeyKind.of(row.getInt(2)), row.getString(3)),
                                RunId.of(row.getBytes(5)),
                                row.getLong(4)),
                        row.getBytes(6) != null),
                start.workspace(),
                start.kind().code(),
                start.text(),
                limit));
        List<StoreCommand.KeyTombstone> found = slice.stream()
                .filter(one -> one.ended() && one.tombstone().expiresAt() < before)
                .map(TombstoneCandidate::tombstone)
                .toList();
        return new TombstonePage(
                found, slice.size() < limit ? null : slice.getLast().tombstone().key());
    }

    @Override
    public OldLineages oldRuns(@Nullable RunId from, int limit, long endedBefore) {
        return query(() -> RunRetentionWriter.findOldLineages(session, from, limit, endedBefore));
    }

    /** An expired key that may be deleted, and whether its run has ended. */
    private record TombstoneCandidate(StoreCommand.KeyTombstone tombstone, boolean ended) {}

    @Override
    public boolean hasExpiredReply() {
        long now = now();
        return queryNullable(() -> session.queryOne(
                        "SELECT 1 FROM semel_idempotent_response WHERE expires_at <= ? LIMIT 1", row -> 1, now))
                != null;
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
    public ReviewOperation.ReviewQueries reviews() {
        return new JdbcReviewQueries(session);
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
        long before = now() - KeyedSignalOperation.DELETE_DELAY.toNanos() / 1_000;
        return queryNullable(() -> session.queryOne(
                        "SELECT 1 FROM semel_keyed_signal WHERE expires_at <= ? LIMIT 1", row -> 1, before))
                != null;
    }

    @Override
    public long nextDue() {
        Long due = queryNullable(() -> session.queryOne(
                """
                SELECT due_at FROM semel_unfinished_run
                WHERE owner IS NULL AND start_blocked = 0 ORDER BY due_at, run LIMIT 1
                """,
                row -> row.getLong(1)));
        return due == null || due == StoreWrite.Suspension.HELD ? StoreWrite.Suspension.NEVER : due;
    }

    @Override
    public List<StoreWrite.RunExecution> runsOfLease(long lease, @Nullable RunId after, int limit) {
        return query(() -> session.queryList(
                "SELECT run, claim_count FROM semel_unfinished_run WHERE run > ? AND owner = ? ORDER BY run LIMIT ?",
                row -> new StoreWrite.RunExecution(RunId.of(row.getBytes(1)), row.getInt(2)),
                after == null ? new byte[0] : after.bytes(),
                lease,
                limit));
    }

    @Override
    public List<StoredRows.WorkerRow> workers() {
        return query(() -> session.queryList(WORKERS, RowMappers::mapWorker));
    }

    @Override
    public long countUnfinished() {
        Long count = queryNullable(() -> session.queryOne("SELECT count(*) FROM semel_unfinished_run", row -> row.getLong(1)));
        return count == null ? 0 : count;
    }

    @Override
    public void close() {
        try {
            session.close();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not close a read connection", e);
        }
    }

    protected <T> T query(SqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not answer a query", e);
        }
    }

    protected <T> @Nullable T queryNullable(NullableSqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not answer a query", e);
        }
    }

    /** A query that returns a value. */
    @FunctionalInterface
    protected interface SqlQuery<T> {
        T run() throws SQLException;
    }

    /** A query that may return null. */
    @FunctionalInterface
    protected interface NullableSqlQuery<T> {
        @Nullable
        T run() throws SQLException;
    }
}
