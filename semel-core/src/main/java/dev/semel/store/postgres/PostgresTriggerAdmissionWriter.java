package dev.semel.store.postgres;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.run.RunId;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.jdbc.run.JdbcConcurrencyAndRateLimiter;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Inserts all keys, reads those in use, takes over free ones, then inserts runs. The unique constraint decides. */
final class PostgresTriggerAdmissionWriter {
    private static final String CLAIM = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        SELECT ws, kind, key, run, digest, ?, expires_at, flags
        FROM unnest(?::int[], ?::int[], ?::text[], ?::bytea[], ?::bytea[], ?::bigint[], ?::int[])
            AS u(ws, kind, key, run, digest, expires_at, flags)
        ON CONFLICT (ws, kind, key) DO NOTHING
        RETURNING ws, kind, key
        """;

    // Rows are locked sorted, in the order of the arrays; an unchanged run and expiry mean that the key is still free.
    private static final String TAKE_OVER = """
        WITH free AS MATERIALIZED (
            SELECT u.* FROM unnest(?::int[], ?::int[], ?::text[], ?::bytea[], ?::bytea[], ?::bigint[], ?::int[],
                                   ?::bytea[], ?::bigint[])
                AS u(ws, kind, key, run, digest, expires_at, flags, old_run, old_expires_at)
            JOIN semel_key k ON k.ws = u.ws AND k.kind = u.kind AND k.key = u.key
            WHERE k.run = u.old_run AND k.expires_at = u.old_expires_at
            ORDER BY k.ws, k.kind, k.key FOR NO KEY UPDATE OF k)
        UPDATE semel_key k SET run = free.run, digest = free.digest, first_at = ?, expires_at = free.expires_at,
            flags = free.flags
        FROM free
        WHERE k.ws = free.ws AND k.kind = free.kind AND k.key = free.key
          AND k.run = free.old_run AND k.expires_at = free.old_expires_at
        RETURNING k.ws, k.kind, k.key
        """;

    private static final String RELEASE = """
        DELETE FROM semel_key k USING unnest(?::int[], ?::int[], ?::text[], ?::bytea[]) AS u(ws, kind, key, run)
        WHERE k.ws = u.ws AND k.kind = u.kind AND k.key = u.key AND k.run = u.run
        """;

    /** The store's time, catalog revision and lease of a batch. */
    record BatchContext(
            long now, long catalogRevision, @Nullable Long lease) {}

    private final JdbcSession session;
    private final long skew;
    private final BatchContext context;
    private final MetricUpdateCollector counted;

    PostgresTriggerAdmissionWriter(
            JdbcSession session, long skew, BatchContext context, MetricUpdateCollector counted) {
        this.counted = counted;
        this.session = session;
        this.skew = skew;
        this.context = context;
    }

    void apply(
            List<PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun>> admits,
            PostgresBatchRowLocker locks,
            Object[] outcomes)
            throws SQLException {
        Map<RunDeduplicationKey, TriggerAdmissionBatchItem> leaders = new HashMap<>();
        List<TriggerAdmissionBatchItem> cases = new ArrayList<>();
        List<TriggerAdmissionBatchItem> followers = new ArrayList<>();
        Set<String> debounced = new HashSet<>();
        for (var indexed : admits) {
            TriggerAdmissionBatchItem one = new TriggerAdmissionBatchItem(indexed, locks);
            StartConditions conditions = one.admit.run().startConditions();
            if (conditions != null
                    && conditions.debounce() != null
                    && one.debounceTarget == null
                    && !one.decidedByKey
                    && !debounced.add(conditions.debounce().name())) {
                outcomes[one.position] =
                        new AdmitResult.RetryNextBatch(); // an earlier trigger of the batch creates its run
                continue;
            }
            boolean follows = one.admit.keyClaims().stream()
                    .anyMatch(claim -> claim.binding() && leaders.containsKey(claim.key()));
            if (follows) {
                followers.add(one);
            } else {
                one.admit.keyClaims().forEach(claim -> one.addClaim(claim, leaders));
                cases.add(one);
            }
        }
        claimKeys(cases);
        // Its key became free since it was read. It may have to join the debounced run now.
        cases.forEach(one -> one.retry |= one.decidedByKey && !one.isBlocked());
        retryWithLeaders(cases, leaders);
        takeOverKeys(cases);
        shareHolders(cases, leaders);
        releaseKeys(cases);
        create(cases, outcomes);
        mergeDebounced(cases, outcomes);
        locks.deleteUnused();
        for (TriggerAdmissionBatchItem one : cases) {
            if (one.retry) {
                outcomes[one.position] = new AdmitResult.RetryNextBatch();
            } else if (one.isBlocked()) {
                outcomes[one.position] = held(one);
            }
        }
        for (TriggerAdmissionBatchItem follower : followers) {
            outcomes[follower.position] = follow(follower, leaders, outcomes);
        }
    }

    private void claimKeys(List<TriggerAdmissionBatchItem> cases) throws SQLException {
        List<AdmissionClaim> all = claimed(cases);
        if (all.isEmpty()) {
            return;
        }
        Set<RunDeduplicationKey> inserted =
                keys(bindClaims(new ArrayStatement<>(session, CLAIM, all).value(context.now())));
        List<AdmissionClaim> missed = new ArrayList<>();
        for (AdmissionClaim c : all) {
            if (inserted.contains(c.claim().key())) {
                c.of().takenClaims.add(c.claim());
            } else {
                missed.add(c);
            }
        }
        if (!missed.isEmpty()) {
            readHolders(missed);
        }
    }

    /** Reads the runs that hold the keys which were not inserted. */
    private void readHolders(List<AdmissionClaim> missed) throws SQLException {
        List<@Nullable RunDeduplicationKeyRecord> found = PostgresStoreQueries.find(
                        session, missed.stream().map(c -> c.claim().key()).toList(), skew)
                .keyRecords();
        for (int i = 0; i < missed.size(); i++) {
            AdmissionClaim c = missed.get(i);
            RunDeduplicationKeyRecord keyRecord = found.get(i);
            KeyStatus status = keyRecord == null ? null : TriggerAdmissionRules.statusOf(keyRecord, context.now());
            if (c.of().debounceTarget != null
                    && (status == null || status == KeyStatus.LIVE || status == KeyStatus.FAILED)) {
                c.of().retry |= c.claim().binding(); // the key was free a moment ago; the retry finds its holder
            } else if (c.of().debounceTarget != null && !c.claim().binding()) {
                continue; // only reported, and not by a debounced trigger
            } else if (keyRecord == null || status == null) {
                c.of().retry = true; // deleted or released between the two statements
            } else if (keyRecord.run().equals(c.of().run())) {
                c.of().lineage = keyRecord.lineage(); // a retry after a lost response
            } else {
                c.of().occupiedKeys.add(new TriggerAdmissionBatchItem.OccupiedKey(c.claim(), keyRecord, status));
            }
        }
    }

    /** Moves expired, released and failed keys to the triggers that are not blocked otherwise. */
    private void takeOverKeys(List<TriggerAdmissionBatchItem> cases) throws SQLException {
        List<AdmissionClaim> wanted = new ArrayList<>();
        for (TriggerAdmissionBatchItem one : cases) {
            if (!one.retry && !one.isBlocked()) {
                one.occupiedKeys.stream()
                        .filter(lost -> lost.keyState() != KeyStatus.LIVE)
                        .forEach(lost -> wanted.add(new AdmissionClaim(one, lost.claim(), lost.keyRecord())));
            }
        }
        if (wanted.isEmpty()) {
            return;
        }
        wanted.sort(Comparator.comparing(c -> c.claim().key()));
        Set<RunDeduplicationKey> retaken = keys(bindClaims(new ArrayStatement<>(session, TAKE_OVER, wanted))
                .ids(c -> c.old().run())
                .longs(c -> c.old().expiresAt())
                .value(context.now()));
        for (AdmissionClaim c : wanted) {
            if (retaken.contains(c.claim().key())) {
                continue;
            }
            // Another batch was faster. A trigger with several keys may hold some of them now: roll the batch back.
            if (c.of().admit.keyClaims().size() > 1) {
                throw new SQLException("a key moved to another run; the batch is applied again", "40001");
            }
            c.of().retry = true;
        }
    }

    /** If the first claimant of a shared key did not get it, the others are retried before they take keys over. */
    private static void retryWithLeaders(
            List<TriggerAdmissionBatchItem> cases, Map<RunDeduplicationKey, TriggerAdmissionBatchItem> leaders) {
        for (TriggerAdmissionBatchItem one : cases) {
            one.retry |= one.sharedClaims.stream()
                    .map(claim -> leader(claim, leaders))
                    .anyMatch(l -> l.retry || l.isBlocked());
        }
    }

    /** Gives triggers that share a non-binding key its holder. */
    private void shareHolders(
            List<TriggerAdmissionBatchItem> cases, Map<RunDeduplicationKey, TriggerAdmissionBatchItem> leaders)
            throws SQLException {
        for (TriggerAdmissionBatchItem one : cases) {
            for (RunDeduplicationKeyClaim claim : one.retry ? List.<RunDeduplicationKeyClaim>of() : one.sharedClaims) {
                TriggerAdmissionBatchItem leader = leader(claim, leaders);
                if (leader.retry) {
                    throw new SQLException(
                            "a key of this batch was assigned to another run at the same time; the store repeats the"
                                    + " batch",
                            "40001");
                }
                RunDeduplicationKeyRecord holder =
                        holder(leader, claim.key(), origins(leader).lineage());
                one.occupiedKeys.add(new TriggerAdmissionBatchItem.OccupiedKey(claim, holder, KeyStatus.LIVE));
            }
        }
    }

    private static TriggerAdmissionBatchItem leader(
            RunDeduplicationKeyClaim claim, Map<RunDeduplicationKey, TriggerAdmissionBatchItem> leaders) {
        return Objects.requireNonNull(leaders.get(claim.key()));
    }

    /** Deletes the keys of blocked triggers: a rejected trigger leaves no row. */
    private void releaseKeys(List<TriggerAdmissionBatchItem> cases) throws SQLException {
        List<AdmissionClaim> back = new ArrayList<>();
        for (TriggerAdmissionBatchItem one : cases) {
            if (one.retry || one.isBlocked()) {
                one.takenClaims.forEach(claim -> back.add(new AdmissionClaim(one, claim, null)));
            }
        }
        if (back.isEmpty()) {
            return;
        }
        back.sort(Comparator.comparing(c -> c.claim().key()));
        bindKeys(new ArrayStatement<>(session, RELEASE, back)).update();
    }

    private void create(List<TriggerAdmissionBatchItem> cases, Object[] outcomes) throws SQLException {
        List<PostgresNewRunWriter.NewRunRow> fresh = cases.stream()
                .filter(one -> !one.retry && !one.isBlocked() && one.debounceTarget == null)
                .map(one ->
                        new PostgresNewRunWriter.NewRunRow(one.position, one.admit, origins(one), one.keyFirstUsedAt()))
                .toList();
        new PostgresNewRunWriter(session, context, counted).apply(fresh, outcomes);
    }

    private void mergeDebounced(List<TriggerAdmissionBatchItem> cases, Object[] outcomes) throws SQLException {
        Map<RunId, List<TriggerAdmissionBatchItem>> byTarget = new LinkedHashMap<>();
        for (TriggerAdmissionBatchItem one : cases) {
            if (one.debounceTarget != null && !one.retry) {
                byTarget.computeIfAbsent(one.debounceTarget, _ -> new ArrayList<>())
                        .add(one);
            }
        }
        for (Map.Entry<RunId, List<TriggerAdmissionBatchItem>> entry : byTarget.entrySet()) {
            AdmitResult merged = new JdbcConcurrencyAndRateLimiter(session)
                    .mergeTrigger(entry.getValue().getLast().admit, entry.getKey(), context.now());
            entry.getValue().forEach(one -> outcomes[one.position] = merged);
        }
    }

    private AdmitResult.Fresh origins(TriggerAdmissionBatchItem one) {
        RunId lineage = one.lineage;
        StoreWrite.PreviousHolder earlier = null;
        RunDeduplicationKeyRecord duplicateOf = null;
        for (TriggerAdmissionBatchItem.OccupiedKey lost : one.occupiedKeys) {
            if (lost.keyState() == KeyStatus.LIVE) {
                duplicateOf = lost.keyRecord();
            } else if (earlier == null && lost.claim().key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
                // The payload of another key does not identify the previous run of this key.
                RunDeduplicationKeyRecord keyRecord = lost.keyRecord();
                earlier = new StoreWrite.PreviousHolder(
                        keyRecord.run(), keyRecord.chosenRunId(), lost.keyState() == KeyStatus.EXPIRED);
                lineage = lost.keyState() == KeyStatus.FAILED ? keyRecord.lineage() : lineage;
            }
        }
        return new AdmitResult.Fresh(context.now(), false, lineage, earlier, duplicateOf, false);
    }

    private AdmitResult held(TriggerAdmissionBatchItem one) {
        RunDeduplicationKeyRecord failed = one.failedHolder();
        if (failed != null && !one.isHeld()) {
            return new AdmitResult.HolderFailed(context.now(), failed);
        }
        List<@Nullable RunDeduplicationKeyRecord> keyRecords = new ArrayList<>();
        for (RunDeduplicationKeyClaim claim : one.admit.keyClaims()) {
            keyRecords.add(one.occupiedKeys.stream()
                    .filter(lost -> lost.claim().equals(claim) && claim.binding() && lost.keyState() == KeyStatus.LIVE)
                    .map(TriggerAdmissionBatchItem.OccupiedKey::keyRecord)
                    .findFirst()
                    .orElse(null));
        }
        return new AdmitResult.KeysHeld(context.now(), keyRecords);
    }

    /** Returns for a trigger that shares a key with an earlier one of the batch what that one found or created. */
    private AdmitResult follow(
            TriggerAdmissionBatchItem follower,
            Map<RunDeduplicationKey, TriggerAdmissionBatchItem> leaders,
            Object[] outcomes) {
        List<@Nullable RunDeduplicationKeyRecord> keyRecords = new ArrayList<>();
        boolean any = false;
        for (RunDeduplicationKeyClaim claim : follower.admit.keyClaims()) {
            if (!claim.binding()) {
                keyRecords.add(null); // as for keys in the store: a non-binding key blocks no trigger
                continue;
            }
            TriggerAdmissionBatchItem leader = leaders.get(claim.key());
            // The next transaction sees whether a run with start conditions started or was debounced.
            boolean open =
                    leader != null && !leader.isHeld() && leader.admit.run().startConditions() != null;
            if (leader == null || leader.retry || open) {
                return new AdmitResult.RetryNextBatch();
            }
            RunDeduplicationKeyRecord holder = followed(leader, claim.key(), outcomes);
            any |= holder != null;
            keyRecords.add(holder);
        }
        return any ? new AdmitResult.KeysHeld(context.now(), keyRecords) : new AdmitResult.RetryNextBatch();
    }

    /** Null: another key blocked the leader, and it released this one. */
    private @Nullable RunDeduplicationKeyRecord followed(
            TriggerAdmissionBatchItem leader, RunDeduplicationKey name, Object[] outcomes) {
        if (outcomes[leader.position] instanceof AdmitResult.Fresh fresh) {
            return holder(leader, name, fresh.lineage());
        }
        return leader.occupiedKeys.stream()
                .filter(lost -> lost.claim().key().equals(name) && lost.keyState() == KeyStatus.LIVE)
                .map(TriggerAdmissionBatchItem.OccupiedKey::keyRecord)
                .findFirst()
                .orElse(null);
    }

    /** Returns the holder of a fresh leader's key: the run that the leader found, or the leader's own run. */
    private RunDeduplicationKeyRecord holder(
            TriggerAdmissionBatchItem leader, RunDeduplicationKey name, RunId lineage) {
        for (TriggerAdmissionBatchItem.OccupiedKey lost : leader.occupiedKeys) {
            if (lost.claim().key().equals(name) && lost.keyState() == KeyStatus.LIVE) {
                return lost.keyRecord();
            }
        }
        NewRun run = leader.admit.run();
        RunDeduplicationKeyClaim claim = leader.admit.keyClaims().stream()
                .filter(w -> w.key().equals(name))
                .findFirst()
                .orElseThrow();
        return new RunDeduplicationKeyRecord(
                leader.keyHolder(),
                run.chosenId(),
                claim.digest(),
                run.fields(),
                run.workflowId(),
                run.version(),
                run.state(),
                lineage,
                context.now(),
                claim.expiresAt(context.now()),
                claim.flags());
    }

    /** A key claim of a pending admission; {@code previous} is the record that it takes over. */
    private record AdmissionClaim(
            TriggerAdmissionBatchItem of,
            RunDeduplicationKeyClaim claim,
            @Nullable RunDeduplicationKeyRecord previous) {
        RunDeduplicationKeyRecord old() {
            return Objects.requireNonNull(previous);
        }
    }

    private static List<AdmissionClaim> claimed(List<TriggerAdmissionBatchItem> cases) {
        List<AdmissionClaim> all = new ArrayList<>();
        for (TriggerAdmissionBatchItem one : cases) {
            one.leadClaims.forEach(claim -> all.add(new AdmissionClaim(one, claim, null)));
        }
        all.sort(Comparator.comparing(c -> c.claim().key()));
        return all;
    }

    private static ArrayStatement<AdmissionClaim> bindKeys(ArrayStatement<AdmissionClaim> statement)
            throws SQLException {
        return statement
                .ints(c -> c.claim().key().workspace())
                .ints(c -> c.claim().key().kind().code())
                .texts(c -> c.claim().key().text())
                .ids(c -> c.of().keyHolder());
    }

    private ArrayStatement<AdmissionClaim> bindClaims(ArrayStatement<AdmissionClaim> statement) throws SQLException {
        return bindKeys(statement)
                .bytes(c -> c.of().digestOf(c.claim()))
                .longs(c -> c.claim().expiresAt(context.now()))
                .ints(c -> c.claim().flags());
    }

    private static Set<RunDeduplicationKey> keys(ArrayStatement<?> statement) throws SQLException {
        return new HashSet<>(statement.list(row -> new RunDeduplicationKey(
                row.getInt(1), RunDeduplicationKey.KeyKind.of(row.getInt(2)), row.getString(3))));
    }
}
