package dev.semel.store.jdbc;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Delivery;
import dev.semel.store.Edit;
import dev.semel.store.Figures;
import dev.semel.store.Letter;
import dev.semel.store.Name;
import dev.semel.store.Plans;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Timetable;
import dev.semel.store.Write;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Read queries whose SQL is the same in both dialects. */
public abstract class JdbcReads implements Reads {
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

    protected final Session session;

    protected JdbcReads(Session session) {
        this.session = session;
    }

    @Override
    public Rows.@Nullable Run run(int ws, RunId id) {
        if (ws <= 0) {
            throw new IllegalArgumentException("run(): the workspace number must be positive");
        }
        return maybe(() -> session.one(RUN, Read::run, id, ws, ws));
    }

    @Override
    public Rows.@Nullable Run claimed(RunId id) {
        return maybe(() -> session.one(RUN, Read::run, id, 0, 0));
    }

    @Override
    public List<Rows.Run> runs(RunFilter filter) {
        String key = filter.key();
        if (key != null) {
            return runsOfKey(key, filter);
        }
        return ask(() -> new RunPages(session).page(filter, () -> workflows(filter.ws())));
    }

    /**
     * Returns the current run of a key and its earlier runs. Uses the key's index, so the number of runs does not
     * matter.
     */
    private List<Rows.Run> runsOfKey(String key, RunFilter filter) {
        TreeMap<RunId, Rows.Run> found = new TreeMap<>(Comparator.reverseOrder());
        for (Rows.Held held : key(filter.ws(), key)) {
            RunId next = held.known().run();
            for (int i = 0; next != null && i < EARLIER_RUNS_OF_A_KEY; i++) {
                Rows.Run run = run(filter.ws(), next);
                if (run != null && matches(run, filter)) {
                    found.put(run.id(), run);
                }
                next = run == null ? null : run.previous();
            }
        }
        return found.values().stream().limit(filter.limit()).toList();
    }

    private static boolean matches(Rows.Run run, RunFilter filter) {
        return (filter.workflowId() == null || filter.workflowId().equals(run.workflowId()))
                && (filter.state() == null || filter.state() == run.state())
                && (!filter.replayedOnly() || run.counts().replays() > 0)
                && (filter.before() == null || run.id().compareTo(filter.before()) < 0)
                && (filter.from() == null || run.id().compareTo(filter.from()) >= 0)
                && run.createdAt() >= filter.since();
    }

    @Override
    public List<Chunk> journal(RunId run) {
        return ask(() -> session.list(
                "SELECT seq, entries FROM semel_journal WHERE run = ? ORDER BY seq",
                row -> new Chunk(row.getInt(1), row.getString(2)),
                run));
    }

    @Override
    public List<Rows.Signal> signals(RunId run) {
        return ask(() -> RunEdits.signals(session, run));
    }

    @Override
    public Ledger.@Nullable Row effect(Ledger.Id id) {
        return maybe(() -> Effects.find(session, id));
    }

    @Override
    public List<Ledger.Row> effects(RunId run) {
        return ask(() -> Effects.of(session, run));
    }

    @Override
    public List<RunId> children(RunId run) {
        return ask(() -> session.list(
                "SELECT run FROM semel_run_link WHERE parent = ? ORDER BY run LIMIT 1000",
                row -> RunId.of(row.getBytes(1)),
                run));
    }

    @Override
    public List<String> queues(RunId run) {
        return ask(() -> session.list(
                "SELECT queue FROM semel_queue_entry WHERE run = ? ORDER BY queue", row -> row.getString(1), run));
    }

    @Override
    public List<RunId> lineage(RunId first) {
        return ask(() -> session.list(
                "SELECT run FROM semel_run WHERE lineage = ? AND lineage <> run ORDER BY run LIMIT 1000",
                row -> RunId.of(row.getBytes(1)),
                first));
    }

    @Override
    public List<Misfit> held(@Nullable RunId after, int limit) {
        return ask(() -> session.list(
                """
                SELECT run, workflow_id FROM semel_unfinished_run
                WHERE owner IS NULL AND start_blocked = 0 AND due_at = ? AND run > ? ORDER BY due_at, run LIMIT ?
                """,
                row -> new Misfit(RunId.of(row.getBytes(1)), row.getString(2)),
                Write.Rest.HELD,
                after == null ? new byte[0] : after.bytes(),
                limit));
    }

    @Override
    public List<Write.Seen> requestsOf(RunId run, @Nullable RunId before, int limit) {
        byte[] from = before == null ? AFTER_ALL : before.bytes();
        return ask(() -> session.list(REQUESTS_OF_RUN, Read::seen, run, from, limit))
                .reversed();
    }

    @Override
    public List<Write.Seen> requests(int ws, @Nullable RunId before, int limit) {
        return ask(() -> session.list(REQUESTS, Read::seen, ws, before == null ? AFTER_ALL : before.bytes(), limit));
    }

    @Override
    public List<Rows.Held> key(int ws, String key) {
        List<Rows.Held> found = new ArrayList<>();
        // Workflow keys and distinct keys are the key, a newline and more: they sort between newline and vertical tab.
        found.addAll(ask(() -> session.list(KEYS, Read::held, ws, Name.Kind.KEY.code(), key, key + "\u0001", 1)));
        for (Name.Kind kind : List.of(Name.Kind.WORKFLOW_KEY, Name.Kind.DISTINCT_KEY)) {
            found.addAll(ask(() -> session.list(KEYS, Read::held, ws, kind.code(), key + "\n", key + "\u000b", 100)));
        }
        found.sort(Comparator.comparingLong((Rows.Held held) -> held.known().firstAt())
                .reversed());
        return found;
    }

    @Override
    public List<Rows.Held> keys(int ws, String prefix, @Nullable Name after, int limit) {
        List<Rows.Held> found = new ArrayList<>();
        for (Name.Kind kind : List.of(Name.Kind.KEY, Name.Kind.WORKFLOW_KEY, Name.Kind.DISTINCT_KEY)) {
            if (found.size() >= limit || (after != null && after.kind().code() > kind.code())) {
                continue;
            }
            String from = after != null && after.kind() == kind ? after.text() + "\u0001" : prefix;
            int room = limit - found.size();
            found.addAll(ask(() -> session.list(KEYS, Read::held, ws, kind.code(), from, prefix + "\u007f", room)));
        }
        return found;
    }

    @Override
    public List<Rows.Held> namesLike(int ws, Name.Kind kind, String prefix, int limit) {
        return ask(() -> session.list(KEYS, Read::held, ws, kind.code(), prefix, prefix + "\u007f", limit));
    }

    @Override
    public Rows.@Nullable Event event(int ws, String eventId) {
        return maybe(() -> EventRows.one(session, ws, eventId));
    }

    @Override
    public Events events(EventFilter filter) {
        RunId before = filter.before();
        return ask(() -> EventRows.list(session, filter, before == null ? AFTER_ALL : before.bytes()));
    }

    @Override
    public List<Edit.OldEvent> oldEvents(int ws, long before, int limit) {
        return ask(() -> EventRows.old(session, ws, before, limit));
    }

    @Override
    public @Nullable Integer workspaceAfter(int ws) {
        return maybe(() -> session.one(
                "SELECT ws FROM semel_workspace WHERE ws > ? ORDER BY ws LIMIT 1", row -> row.getInt(1), ws));
    }

    @Override
    public long catalogChange() {
        Long change = maybe(() -> session.one("SELECT revision FROM semel_catalog", row -> row.getLong(1)));
        return change == null ? 0 : change;
    }

    @Override
    public Rows.@Nullable Workflow workflow(int ws, String nameOrId) {
        Rows.Workflow byName = maybe(() -> session.one(WORKFLOW, Read::workflow, ws, nameOrId));
        return byName != null ? byName : maybe(() -> session.one(WORKFLOW_BY_ID, Read::workflow, ws, nameOrId));
    }

    @Override
    public List<Rows.Workflow> workflows(int ws) {
        return ask(() -> session.list(WORKFLOWS, Read::workflow, ws));
    }

    @Override
    public Rows.@Nullable Version version(String workflowId, int version) {
        return maybe(() -> session.one(VERSION, Read::version, workflowId, version));
    }

    @Override
    public List<Rows.Version> versions(String workflowId, int before, int limit) {
        return ask(() -> session.list(VERSIONS, Read::version, workflowId, before, limit));
    }

    @Override
    public List<Rows.Tally> tally(int ws, String workflowId, int limit) {
        return ask(() -> session.list(
                TALLY,
                row -> new Rows.Tally(row.getInt(1), RunState.of(row.getInt(2)), row.getLong(3)),
                ws,
                workflowId,
                limit));
    }

    @Override
    public Rows.@Nullable Token token(byte[] hash) {
        return maybe(() -> session.one(TOKEN, Read::token, hash));
    }

    @Override
    public List<Rows.Token> tokens(int ws) {
        return ask(() -> session.list(TOKENS, Read::token, ws));
    }

    @Override
    public Rows.@Nullable Workspace workspace(String name) {
        return maybe(() ->
                session.one("SELECT ws, name, secret FROM semel_workspace WHERE name = ?", Read::workspace, name));
    }

    @Override
    public Rows.@Nullable Workspace workspace(int ws) {
        return maybe(
                () -> session.one("SELECT ws, name, secret FROM semel_workspace WHERE ws = ?", Read::workspace, ws));
    }

    @Override
    public Rows.@Nullable Setting setting(int ws, String kind, String name) {
        return maybe(() -> SettingEdits.current(session, ws, kind, name));
    }

    @Override
    public Rows.@Nullable Setting setting(int ws, String kind, String name, int version) {
        return maybe(() -> SettingEdits.version(session, new SettingEdits.SettingVersion(ws, kind, name, version)));
    }

    @Override
    public List<Rows.Setting> settings(int ws, String kind, String after, int limit) {
        return ask(() -> SettingEdits.page(session, new SettingEdits.Slice(ws, kind, after, limit)));
    }

    @Override
    public List<Rows.Setting> settingVersions(int ws, String kind, String name) {
        return ask(() -> SettingEdits.versions(session, ws, kind, name));
    }

    @Override
    public List<Delivery> deliveries(int ws, String hook, @Nullable RunId before, int limit) {
        return ask(() ->
                DeliveryEdits.page(session, ws, hook, List.of(before == null ? AFTER_ALL : before.bytes(), limit)));
    }

    @Override
    public @Nullable Delivery delivery(int ws, String hook, RunId id) {
        return maybe(() -> DeliveryEdits.one(session, ws, hook, id));
    }

    @Override
    public @Nullable Delivery firstDelivery(int ws, String hook, String eventId) {
        return maybe(() -> DeliveryEdits.firstOf(session, ws, hook, eventId));
    }

    @Override
    public boolean expiredDelivery() {
        long now = now();
        return maybe(() -> DeliveryEdits.expired(session, now)) != null;
    }

    @Override
    public List<Rows.Audit> audit(int ws, @Nullable RunId before, int limit) {
        return ask(() -> session.list(AUDIT, Read::audit, ws, before == null ? AFTER_ALL : before.bytes(), limit));
    }

    @Override
    public Slice tombstones(@Nullable Name from, int limit, long before) {
        Name start = from == null ? new Name(0, Name.Kind.KEY, "") : from;
        List<Candidate> slice = ask(() -> session.list(
                NAMES_AFTER,
                row -> new Candidate(
                        new Edit.Tombstone(
                                new Name(row.getInt(1), Name.Kind.of(row.getInt(2)), row.getString(3)),
                                RunId.of(row.getBytes(5)),
                                row.getLong(4)),
                        row.getBytes(6) != null),
                start.workspace(),
                start.kind().code(),
                start.text(),
                limit));
        List<Edit.Tombstone> found = slice.stream()
                .filter(one -> one.ended() && one.tombstone().expiresAt() < before)
                .map(Candidate::tombstone)
                .toList();
        return new Slice(
                found, slice.size() < limit ? null : slice.getLast().tombstone().name());
    }

    @Override
    public Old oldRuns(@Nullable RunId from, int limit, long endedBefore) {
        return ask(() -> Retiring.look(session, from, limit, endedBefore));
    }

    /** An expired key that may be deleted, and whether its run has ended. */
    private record Candidate(Edit.Tombstone tombstone, boolean ended) {}

    @Override
    public boolean expiredReply() {
        long now = now();
        return maybe(() -> session.one(
                        "SELECT 1 FROM semel_idempotent_response WHERE expires_at <= ? LIMIT 1", row -> 1, now))
                != null;
    }

    @Override
    public Plans plans() {
        return new JdbcPlans(session);
    }

    @Override
    public Figures figures() {
        return new JdbcFigures(session);
    }

    @Override
    public Review.Desk reviews() {
        return new JdbcReviews(session);
    }

    @Override
    public LedgerPage effects(EffectFilter filter) {
        return ask(() -> EffectPages.list(session, filter));
    }

    @Override
    public Timetable timetable() {
        return new JdbcTimetable(session);
    }

    @Override
    public boolean expiredLetter() {
        long before = now() - Letter.BEHIND.toNanos() / 1_000;
        return maybe(() -> session.one(
                        "SELECT 1 FROM semel_keyed_signal WHERE expires_at <= ? LIMIT 1", row -> 1, before))
                != null;
    }

    @Override
    public long nextDue() {
        Long due = maybe(() -> session.one(
                """
                SELECT due_at FROM semel_unfinished_run
                WHERE owner IS NULL AND start_blocked = 0 ORDER BY due_at, run LIMIT 1
                """,
                row -> row.getLong(1)));
        return due == null || due == Write.Rest.HELD ? Write.Rest.NEVER : due;
    }

    @Override
    public List<Write.Driver> owned(long lease, @Nullable RunId after, int limit) {
        return ask(() -> session.list(
                "SELECT run, claim_count FROM semel_unfinished_run WHERE run > ? AND owner = ? ORDER BY run LIMIT ?",
                row -> new Write.Driver(RunId.of(row.getBytes(1)), row.getInt(2)),
                after == null ? new byte[0] : after.bytes(),
                lease,
                limit));
    }

    @Override
    public List<Rows.Worker> workers() {
        return ask(() -> session.list(WORKERS, Read::worker));
    }

    @Override
    public long unfinished() {
        Long count = maybe(() -> session.one("SELECT count(*) FROM semel_unfinished_run", row -> row.getLong(1)));
        return count == null ? 0 : count;
    }

    @Override
    public void close() {
        try {
            session.close();
        } catch (SQLException e) {
            throw new StoreFailure.Down("The store did not close a read connection", e);
        }
    }

    protected <T> T ask(Question<T> question) {
        try {
            return question.ask();
        } catch (SQLException e) {
            throw new StoreFailure.Down("The store did not answer a query", e);
        }
    }

    protected <T> @Nullable T maybe(MaybeQuestion<T> question) {
        try {
            return question.ask();
        } catch (SQLException e) {
            throw new StoreFailure.Down("The store did not answer a query", e);
        }
    }

    /** A query that returns a value. */
    @FunctionalInterface
    protected interface Question<T> {
        T ask() throws SQLException;
    }

    /** A query that may return null. */
    @FunctionalInterface
    protected interface MaybeQuestion<T> {
        @Nullable
        T ask() throws SQLException;
    }
}
