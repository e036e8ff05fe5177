package dev.semel.store.postgres;

import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.store.KeyClaim;
import dev.semel.store.MetricUpdates;
import dev.semel.store.NewRun;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.store.UniqueKey;
import dev.semel.store.jdbc.JdbcSession;
import dev.semel.store.jdbc.RunStartLimits;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Admits the triggers of a batch: inserts all keys, reads those that were in use, takes over the free ones, then
 * inserts the runs. The unique constraint decides; nothing is looked up before it is inserted.
 */
final class AdmissionBatchWriter {
    private static final String CLAIM = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        SELECT ws, kind, key, run, digest, ?, expires_at, flags
        FROM unnest(?::int[], ?::int[], ?::text[], ?::bytea[], ?::bytea[], ?::bigint[], ?::int[])
            AS u(ws, kind, key, run, digest, expires_at, flags)
        ON CONFLICT (ws, kind, key) DO NOTHING
        RETURNING kind, run
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
        RETURNING k.kind, k.run
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
    private final BatchContext moment;
    private final MetricUpdates counted;

    AdmissionBatchWriter(JdbcSession session, long skew, BatchContext moment, MetricUpdates counted) {
        this.counted = counted;
        this.session = session;
        this.skew = skew;
        this.moment = moment;
    }

    /** Identifies an inserted key within a batch: its kind and its run. */
    private record KeyOfRun(int kind, RunId run) {}

    void apply(List<PostgresWriteLane.IndexedWrite<StoreWrite.AdmitRun>> admits, BatchLocks locks, Object[] outcomes)
            throws SQLException {
        Map<UniqueKey, PendingAdmission> leaders = new HashMap<>();
        List<PendingAdmission> cases = new ArrayList<>();
        List<PendingAdmission> followers = new ArrayList<>();
        Set<String> debounced = new HashSet<>();
        for (var indexed : admits) {
            PendingAdmission one = new PendingAdmission(indexed, locks);
            NewRun.StartConditions gate = one.admit.run().startConditions();
            if (gate != null
                    && gate.debounce() != null
                    && !debounced.add(gate.debounce().name())) {
                outcomes[one.position] =
                        new AdmitResult.RetryNextBatch(); // an earlier trigger of the batch creates its run
                continue;
            }
            boolean follows =
                    one.admit.keyClaims().stream().anyMatch(wish -> wish.binding() && leaders.containsKey(wish.key()));
            if (follows) {
                followers.add(one);
            } else {
                one.admit.keyClaims().forEach(wish -> one.addClaim(wish, leaders));
                cases.add(one);
            }
        }
        claimKeys(cases);
        retryWithLeaders(cases, leaders);
        takeOverKeys(cases);
        shareHolders(cases, leaders);
        releaseKeys(cases);
        create(cases, outcomes);
        mergeDebounced(cases, outcomes);
        locks.deleteUnused();
        for (PendingAdmission one : cases) {
            if (one.retry) {
                outcomes[one.position] = new AdmitResult.RetryNextBatch();
            } else if (one.isBlocked()) {
                outcomes[one.position] = held(one);
            }
        }
        for (PendingAdmission follower : followers) {
            outcomes[follower.position] = follow(follower, leaders, outcomes);
        }
    }

    private void claimKeys(List<PendingAdmission> cases) throws SQLException {
        List<AdmissionClaim> all = claimed(cases);
        if (all.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.prepare(CLAIM);
        ArrayParameterBinder arrays = new ArrayParameterBinder(session, statement).value(moment.now());
        bindKeys(arrays, all);
        arrays.bytes(all.stream().map(c -> c.wish().digest()).toArray(byte[][]::new))
                .longs(all.stream()
                        .mapToLong(c -> c.wish().expiresAt(moment.now()))
                        .toArray())
                .ints(all.stream().mapToInt(c -> c.wish().flags()).toArray());
        Set<KeyOfRun> inserted = slots(statement);
        List<AdmissionClaim> missed = new ArrayList<>();
        for (AdmissionClaim c : all) {
            if (inserted.contains(c.slot())) {
                c.of().takenClaims.add(c.wish());
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
        List<@Nullable KeyRecord> found = PostgresStoreQueries.find(
                        session, missed.stream().map(c -> c.wish().key()).toList(), skew)
                .keyRecords();
        for (int i = 0; i < missed.size(); i++) {
            AdmissionClaim c = missed.get(i);
            KeyRecord known = found.get(i);
            if (c.of().debounceTarget != null) {
                c.of().retry |= c.wish().binding(); // the key was free a moment ago; the retry finds its holder
            } else if (known == null) {
                c.of().retry = true; // deleted or released between the two statements
            } else if (known.run().equals(c.of().run())) {
                c.of().lineage = known.lineage(); // a retry after a lost response
            } else {
                c.of().occupiedKeys
                        .add(new PendingAdmission.OccupiedKey(
                                c.wish(), known, AdmissionRules.statusOf(known, moment.now())));
            }
        }
    }

    /** Moves expired, released and failed keys to the triggers that are not blocked otherwise. */
    private void takeOverKeys(List<PendingAdmission> cases) throws SQLException {
        List<AdmissionClaim> wanted = new ArrayList<>();
        for (PendingAdmission one : cases) {
            if (!one.retry && !one.isBlocked()) {
                one.occupiedKeys.stream()
                        .filter(lost -> lost.keyState() != KeyStatus.LIVE)
                        .forEach(lost -> wanted.add(new AdmissionClaim(one, lost.claim(), lost.keyRecord())));
            }
        }
        if (wanted.isEmpty()) {
            return;
        }
        wanted.sort(Comparator.comparing(c -> c.wish().key()));
        PreparedStatement statement = session.prepare(TAKE_OVER);
        ArrayParameterBinder arrays = new ArrayParameterBinder(session, statement);
        bindKeys(arrays, wanted);
        arrays.bytes(wanted.stream().map(c -> c.wish().digest()).toArray(byte[][]::new))
                .longs(wanted.stream()
                        .mapToLong(c -> c.wish().expiresAt(moment.now()))
                        .toArray())
                .ints(wanted.stream().mapToInt(c -> c.wish().flags()).toArray())
                .bytes(wanted.stream().map(c -> c.old().run().bytes()).toArray(byte[][]::new))
                .longs(wanted.stream().mapToLong(c -> c.old().expiresAt()).toArray())
                .value(moment.now());
        Set<KeyOfRun> retaken = slots(statement);
        for (AdmissionClaim c : wanted) {
            if (retaken.contains(c.slot())) {
                continue;
            }
            // Another batch was faster. A trigger with several keys may hold some of them now: roll the batch back.
            if (c.of().admit.keyClaims().size() > 1) {
                throw new SQLException("a key moved to another run; the batch is applied again", "40001");
            }
            c.of().retry = true;
        }
    }

    /**
     * If the first trigger that claimed a shared key did not get it, the others are retried before they take keys over.
     */
    private static void retryWithLeaders(List<PendingAdmission> cases, Map<UniqueKey, PendingAdmission> leaders) {
        for (PendingAdmission one : cases) {
            one.retry |= one.sharedClaims.stream()
                    .map(wish -> leader(wish, leaders))
                    .anyMatch(l -> l.retry || l.isBlocked());
        }
    }

    /** Gives triggers that share a non-binding key its holder. */
    private void shareHolders(List<PendingAdmission> cases, Map<UniqueKey, PendingAdmission> leaders)
            throws SQLException {
        for (PendingAdmission one : cases) {
            for (KeyClaim wish : one.retry ? List.<KeyClaim>of() : one.sharedClaims) {
                PendingAdmission leader = leader(wish, leaders);
                if (leader.retry) {
                    throw new SQLException("a shared key moved to another run; the batch is applied again", "40001");
                }
                KeyRecord holder = holder(leader, wish.key(), origins(leader).lineage());
                one.occupiedKeys.add(new PendingAdmission.OccupiedKey(wish, holder, KeyStatus.LIVE));
            }
        }
    }

    private static PendingAdmission leader(KeyClaim wish, Map<UniqueKey, PendingAdmission> leaders) {
        return Objects.requireNonNull(leaders.get(wish.key()));
    }

    /** Deletes the keys of blocked triggers: a rejected trigger leaves no row. */
    private void releaseKeys(List<PendingAdmission> cases) throws SQLException {
        List<AdmissionClaim> back = new ArrayList<>();
        for (PendingAdmission one : cases) {
            if (one.retry || one.isBlocked()) {
                one.takenClaims.forEach(wish -> back.add(new AdmissionClaim(one, wish)));
            }
        }
        if (back.isEmpty()) {
            return;
        }
        back.sort(Comparator.comparing(c -> c.wish().key()));
        PreparedStatement statement = session.prepare(RELEASE);
        bindKeys(new ArrayParameterBinder(session, statement), back);
        statement.executeUpdate();
    }

    private void create(List<PendingAdmission> cases, Object[] outcomes) throws SQLException {
        List<NewRunBatchWriter.NewRunRow> fresh = cases.stream()
                .filter(one -> !one.retry && !one.isBlocked() && one.debounceTarget == null)
                .map(one ->
                        new NewRunBatchWriter.NewRunRow(one.position, one.admit, origins(one), one.keyFirstUsedAt()))
                .toList();
        new NewRunBatchWriter(session, moment, counted).apply(fresh, outcomes);
    }

    private void mergeDebounced(List<PendingAdmission> cases, Object[] outcomes) throws SQLException {
        for (PendingAdmission one : cases) {
            if (one.debounceTarget != null && !one.retry) {
                outcomes[one.position] =
                        new RunStartLimits(session).mergeTrigger(one.admit, one.debounceTarget, moment.now());
            }
        }
    }

    private AdmitResult.Fresh origins(PendingAdmission one) {
        RunId lineage = one.lineage;
        StoreWrite.PreviousHolder earlier = null;
        KeyRecord duplicateOf = null;
        for (PendingAdmission.OccupiedKey lost : one.occupiedKeys) {
            if (lost.keyState() == KeyStatus.LIVE) {
                duplicateOf = lost.keyRecord();
            } else if (earlier == null && lost.claim().key().kind() != UniqueKey.KeyKind.PAYLOAD) {
                // The payload of another key does not identify the previous run of this key.
                KeyRecord known = lost.keyRecord();
                earlier = new StoreWrite.PreviousHolder(
                        known.run(), known.chosenRunId(), lost.keyState() == KeyStatus.EXPIRED);
                lineage = lost.keyState() == KeyStatus.FAILED ? known.lineage() : lineage;
            }
        }
        return new AdmitResult.Fresh(moment.now(), false, lineage, earlier, duplicateOf);
    }

    private AdmitResult held(PendingAdmission one) {
        KeyRecord failed = one.failedHolder();
        if (failed != null && !one.isHeld()) {
            return new AdmitResult.HolderFailed(moment.now(), failed);
        }
        List<@Nullable KeyRecord> known = new ArrayList<>();
        for (KeyClaim wish : one.admit.keyClaims()) {
            known.add(one.occupiedKeys.stream()
                    .filter(lost -> lost.claim().equals(wish) && wish.binding() && lost.keyState() == KeyStatus.LIVE)
                    .map(PendingAdmission.OccupiedKey::keyRecord)
                    .findFirst()
                    .orElse(null));
        }
        return new AdmitResult.KeysHeld(moment.now(), known);
    }

    /** Returns for a trigger that shares a key with an earlier one of the batch what that one found or created. */
    private AdmitResult follow(PendingAdmission follower, Map<UniqueKey, PendingAdmission> leaders, Object[] outcomes) {
        List<@Nullable KeyRecord> known = new ArrayList<>();
        boolean any = false;
        for (KeyClaim wish : follower.admit.keyClaims()) {
            if (!wish.binding()) {
                known.add(null); // as for keys in the store: a non-binding key blocks no trigger
                continue;
            }
            PendingAdmission leader = leaders.get(wish.key());
            // The next transaction sees whether a run with start conditions started or was debounced.
            if (leader == null || leader.retry || leader.admit.run().startConditions() != null) {
                return new AdmitResult.RetryNextBatch();
            }
            KeyRecord holder = followed(leader, wish.key(), outcomes);
            any |= holder != null;
            known.add(holder);
        }
        return any ? new AdmitResult.KeysHeld(moment.now(), known) : new AdmitResult.RetryNextBatch();
    }

    /** Null: another key blocked the leader, and it released this one. */
    private @Nullable KeyRecord followed(PendingAdmission leader, UniqueKey name, Object[] outcomes) {
        if (outcomes[leader.position] instanceof AdmitResult.Fresh fresh) {
            return holder(leader, name, fresh.lineage());
        }
        return leader.occupiedKeys.stream()
                .filter(lost -> lost.claim().key().equals(name) && lost.keyState() == KeyStatus.LIVE)
                .map(PendingAdmission.OccupiedKey::keyRecord)
                .findFirst()
                .orElse(null);
    }

    /** Returns the holder of a fresh leader's key: the run that the leader found, or the leader's own run. */
    private KeyRecord holder(PendingAdmission leader, UniqueKey name, RunId lineage) {
        for (PendingAdmission.OccupiedKey lost : leader.occupiedKeys) {
            if (lost.claim().key().equals(name) && lost.keyState() == KeyStatus.LIVE) {
                return lost.keyRecord();
            }
        }
        NewRun run = leader.admit.run();
        KeyClaim wish = leader.admit.keyClaims().stream()
                .filter(w -> w.key().equals(name))
                .findFirst()
                .orElseThrow();
        return new KeyRecord(
                run.id(),
                run.chosenId(),
                wish.digest(),
                run.fields(),
                run.workflowId(),
                run.version(),
                run.state(),
                lineage,
                moment.now(),
                wish.expiresAt(moment.now()),
                wish.flags());
    }

    /** A key claim of a pending admission; {@code previous} is the record that it takes over. */
    private record AdmissionClaim(
            PendingAdmission of, KeyClaim wish, @Nullable KeyRecord previous) {
        AdmissionClaim(PendingAdmission of, KeyClaim wish) {
            this(of, wish, null);
        }

        KeyOfRun slot() {
            return new KeyOfRun(wish.key().kind().code(), of.keyHolder());
        }

        KeyRecord old() {
            return Objects.requireNonNull(previous);
        }
    }

    private static List<AdmissionClaim> claimed(List<PendingAdmission> cases) {
        List<AdmissionClaim> all = new ArrayList<>();
        for (PendingAdmission one : cases) {
            one.leadClaims.forEach(wish -> all.add(new AdmissionClaim(one, wish)));
        }
        all.sort(Comparator.comparing(c -> c.wish().key()));
        return all;
    }

    private static void bindKeys(ArrayParameterBinder arrays, List<AdmissionClaim> all) throws SQLException {
        arrays.ints(all.stream().mapToInt(c -> c.wish().key().workspace()).toArray())
                .ints(all.stream().mapToInt(c -> c.wish().key().kind().code()).toArray())
                .texts(all.stream().map(c -> c.wish().key().text()).toArray(String[]::new))
                .bytes(all.stream().map(c -> c.of().keyHolder().bytes()).toArray(byte[][]::new));
    }

    private static Set<KeyOfRun> slots(PreparedStatement statement) throws SQLException {
        Set<KeyOfRun> slots = new HashSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                slots.add(new KeyOfRun(row.getInt(1), RunId.of(row.getBytes(2))));
            }
        }
        return slots;
    }
}
