package dev.semel.store.postgres;

import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Counted;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.store.jdbc.Gating;
import dev.semel.store.jdbc.Session;
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
final class Admitting {
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
    record Moment(long now, long change, @Nullable Long lease) {}

    private final Session session;
    private final long skew;
    private final Moment moment;
    private final Counted counted;

    Admitting(Session session, long skew, Moment moment, Counted counted) {
        this.counted = counted;
        this.session = session;
        this.skew = skew;
        this.moment = moment;
    }

    /** Identifies an inserted key within a batch: its kind and its run. */
    private record Slot(int kind, RunId run) {}

    void apply(List<PostgresLane.Indexed<Write.Admit>> admits, Locking locks, Object[] outcomes) throws SQLException {
        Map<Name, Case> leaders = new HashMap<>();
        List<Case> cases = new ArrayList<>();
        List<Case> followers = new ArrayList<>();
        Set<String> debounced = new HashSet<>();
        for (var indexed : admits) {
            Case one = new Case(indexed, locks);
            NewRun.Gate gate = one.admit.run().gate();
            if (gate != null
                    && gate.debounce() != null
                    && !debounced.add(gate.debounce().name())) {
                outcomes[one.at] = new Admitted.Again(); // an earlier trigger of the batch creates its run
                continue;
            }
            boolean follows =
                    one.admit.wishes().stream().anyMatch(wish -> wish.binding() && leaders.containsKey(wish.name()));
            if (follows) {
                followers.add(one);
            } else {
                one.admit.wishes().forEach(wish -> one.lead(wish, leaders));
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
        locks.dropUnused();
        for (Case one : cases) {
            if (one.again) {
                outcomes[one.at] = new Admitted.Again();
            } else if (one.blocked()) {
                outcomes[one.at] = held(one);
            }
        }
        for (Case follower : followers) {
            outcomes[follower.at] = follow(follower, leaders, outcomes);
        }
    }

    private void claimKeys(List<Case> cases) throws SQLException {
        List<Claimed> all = claimed(cases);
        if (all.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.statement(CLAIM);
        Arrays arrays = new Arrays(session, statement).one(moment.now());
        bindKeys(arrays, all);
        arrays.bytes(all.stream().map(c -> c.wish().digest()).toArray(byte[][]::new))
                .longs(all.stream()
                        .mapToLong(c -> c.wish().expiresAt(moment.now()))
                        .toArray())
                .ints(all.stream().mapToInt(c -> c.wish().flags()).toArray());
        Set<Slot> inserted = slots(statement);
        List<Claimed> missed = new ArrayList<>();
        for (Claimed c : all) {
            if (inserted.contains(c.slot())) {
                c.of().taken.add(c.wish());
            } else {
                missed.add(c);
            }
        }
        if (!missed.isEmpty()) {
            readHolders(missed);
        }
    }

    /** Reads the runs that hold the keys which were not inserted. */
    private void readHolders(List<Claimed> missed) throws SQLException {
        List<@Nullable Known> found = PostgresReads.find(
                        session, missed.stream().map(c -> c.wish().name()).toList(), skew)
                .known();
        for (int i = 0; i < missed.size(); i++) {
            Claimed c = missed.get(i);
            Known known = found.get(i);
            if (c.of().taker != null) {
                c.of().again |= c.wish().binding(); // the key was free a moment ago; the retry finds its holder
            } else if (known == null) {
                c.of().again = true; // deleted or released between the two statements
            } else if (known.run().equals(c.of().run())) {
                c.of().lineage = known.lineage(); // a retry after a lost response
            } else {
                c.of().lost.add(new Case.Lost(c.wish(), known, Admissions.standing(known, moment.now())));
            }
        }
    }

    /** Moves expired, released and failed keys to the triggers that are not blocked otherwise. */
    private void takeOverKeys(List<Case> cases) throws SQLException {
        List<Claimed> wanted = new ArrayList<>();
        for (Case one : cases) {
            if (!one.again && !one.blocked()) {
                one.lost.stream()
                        .filter(lost -> lost.standing() != Standing.LIVE)
                        .forEach(lost -> wanted.add(new Claimed(one, lost.wish(), lost.known())));
            }
        }
        if (wanted.isEmpty()) {
            return;
        }
        wanted.sort(Comparator.comparing(c -> c.wish().name()));
        PreparedStatement statement = session.statement(TAKE_OVER);
        Arrays arrays = new Arrays(session, statement);
        bindKeys(arrays, wanted);
        arrays.bytes(wanted.stream().map(c -> c.wish().digest()).toArray(byte[][]::new))
                .longs(wanted.stream()
                        .mapToLong(c -> c.wish().expiresAt(moment.now()))
                        .toArray())
                .ints(wanted.stream().mapToInt(c -> c.wish().flags()).toArray())
                .bytes(wanted.stream().map(c -> c.old().run().bytes()).toArray(byte[][]::new))
                .longs(wanted.stream().mapToLong(c -> c.old().expiresAt()).toArray())
                .one(moment.now());
        Set<Slot> retaken = slots(statement);
        for (Claimed c : wanted) {
            if (retaken.contains(c.slot())) {
                continue;
            }
            // Another batch was faster. A trigger with several keys may hold some of them now: roll the batch back.
            if (c.of().admit.wishes().size() > 1) {
                throw new SQLException("a key moved to another run; the batch is applied again", "40001");
            }
            c.of().again = true;
        }
    }

    /**
     * If the first trigger that claimed a shared key did not get it, the others are retried before they take keys over.
     */
    private static void retryWithLeaders(List<Case> cases, Map<Name, Case> leaders) {
        for (Case one : cases) {
            one.again |= one.shared.stream().map(wish -> leader(wish, leaders)).anyMatch(l -> l.again || l.blocked());
        }
    }

    /** Gives triggers that share a non-binding key its holder. */
    private void shareHolders(List<Case> cases, Map<Name, Case> leaders) throws SQLException {
        for (Case one : cases) {
            for (Wish wish : one.again ? List.<Wish>of() : one.shared) {
                Case leader = leader(wish, leaders);
                if (leader.again) {
                    throw new SQLException("a shared key moved to another run; the batch is applied again", "40001");
                }
                Known holder = holder(leader, wish.name(), origins(leader).lineage());
                one.lost.add(new Case.Lost(wish, holder, Standing.LIVE));
            }
        }
    }

    private static Case leader(Wish wish, Map<Name, Case> leaders) {
        return Objects.requireNonNull(leaders.get(wish.name()));
    }

    /** Deletes the keys of blocked triggers: a rejected trigger leaves no row. */
    private void releaseKeys(List<Case> cases) throws SQLException {
        List<Claimed> back = new ArrayList<>();
        for (Case one : cases) {
            if (one.again || one.blocked()) {
                one.taken.forEach(wish -> back.add(new Claimed(one, wish)));
            }
        }
        if (back.isEmpty()) {
            return;
        }
        back.sort(Comparator.comparing(c -> c.wish().name()));
        PreparedStatement statement = session.statement(RELEASE);
        bindKeys(new Arrays(session, statement), back);
        statement.executeUpdate();
    }

    private void create(List<Case> cases, Object[] outcomes) throws SQLException {
        List<Creating.Row> fresh = cases.stream()
                .filter(one -> !one.again && !one.blocked() && one.taker == null)
                .map(one -> new Creating.Row(one.at, one.admit, origins(one), one.sinceAt()))
                .toList();
        new Creating(session, moment, counted).apply(fresh, outcomes);
    }

    private void mergeDebounced(List<Case> cases, Object[] outcomes) throws SQLException {
        for (Case one : cases) {
            if (one.taker != null && !one.again) {
                outcomes[one.at] = new Gating(session).takeIn(one.admit, one.taker, moment.now());
            }
        }
    }

    private Admitted.Fresh origins(Case one) {
        RunId lineage = one.lineage;
        Write.Earlier earlier = null;
        Known duplicateOf = null;
        for (Case.Lost lost : one.lost) {
            if (lost.standing() == Standing.LIVE) {
                duplicateOf = lost.known();
            } else if (earlier == null && lost.wish().name().kind() != Name.Kind.PAYLOAD) {
                // The payload of another key does not identify the previous run of this key.
                Known known = lost.known();
                earlier = new Write.Earlier(known.run(), known.chosenRunId(), lost.standing() == Standing.EXPIRED);
                lineage = lost.standing() == Standing.FAILED ? known.lineage() : lineage;
            }
        }
        return new Admitted.Fresh(moment.now(), false, lineage, earlier, duplicateOf);
    }

    private Admitted held(Case one) {
        Known failed = one.failed();
        if (failed != null && !one.held()) {
            return new Admitted.Failed(moment.now(), failed);
        }
        List<@Nullable Known> known = new ArrayList<>();
        for (Wish wish : one.admit.wishes()) {
            known.add(one.lost.stream()
                    .filter(lost -> lost.wish().equals(wish) && wish.binding() && lost.standing() == Standing.LIVE)
                    .map(Case.Lost::known)
                    .findFirst()
                    .orElse(null));
        }
        return new Admitted.Held(moment.now(), known);
    }

    /** Returns for a trigger that shares a key with an earlier one of the batch what that one found or created. */
    private Admitted follow(Case follower, Map<Name, Case> leaders, Object[] outcomes) {
        List<@Nullable Known> known = new ArrayList<>();
        boolean any = false;
        for (Wish wish : follower.admit.wishes()) {
            if (!wish.binding()) {
                known.add(null); // as for keys in the store: a non-binding key blocks no trigger
                continue;
            }
            Case leader = leaders.get(wish.name());
            // The next transaction sees whether a run with start conditions started or was debounced.
            if (leader == null || leader.again || leader.admit.run().gate() != null) {
                return new Admitted.Again();
            }
            Known holder = followed(leader, wish.name(), outcomes);
            any |= holder != null;
            known.add(holder);
        }
        return any ? new Admitted.Held(moment.now(), known) : new Admitted.Again();
    }

    /** Null: another key blocked the leader, and it released this one. */
    private @Nullable Known followed(Case leader, Name name, Object[] outcomes) {
        if (outcomes[leader.at] instanceof Admitted.Fresh fresh) {
            return holder(leader, name, fresh.lineage());
        }
        return leader.lost.stream()
                .filter(lost -> lost.wish().name().equals(name) && lost.standing() == Standing.LIVE)
                .map(Case.Lost::known)
                .findFirst()
                .orElse(null);
    }

    /** Returns the holder of a fresh leader's key: the run that the leader found, or the leader's own run. */
    private Known holder(Case leader, Name name, RunId lineage) {
        for (Case.Lost lost : leader.lost) {
            if (lost.wish().name().equals(name) && lost.standing() == Standing.LIVE) {
                return lost.known();
            }
        }
        NewRun run = leader.admit.run();
        Wish wish = leader.admit.wishes().stream()
                .filter(w -> w.name().equals(name))
                .findFirst()
                .orElseThrow();
        return new Known(
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
    private record Claimed(Case of, Wish wish, @Nullable Known previous) {
        Claimed(Case of, Wish wish) {
            this(of, wish, null);
        }

        Slot slot() {
            return new Slot(wish.name().kind().code(), of.holder());
        }

        Known old() {
            return Objects.requireNonNull(previous);
        }
    }

    private static List<Claimed> claimed(List<Case> cases) {
        List<Claimed> all = new ArrayList<>();
        for (Case one : cases) {
            one.wanted.forEach(wish -> all.add(new Claimed(one, wish)));
        }
        all.sort(Comparator.comparing(c -> c.wish().name()));
        return all;
    }

    private static void bindKeys(Arrays arrays, List<Claimed> all) throws SQLException {
        arrays.ints(all.stream().mapToInt(c -> c.wish().name().workspace()).toArray())
                .ints(all.stream().mapToInt(c -> c.wish().name().kind().code()).toArray())
                .texts(all.stream().map(c -> c.wish().name().text()).toArray(String[]::new))
                .bytes(all.stream().map(c -> c.of().holder().bytes()).toArray(byte[][]::new));
    }

    private static Set<Slot> slots(PreparedStatement statement) throws SQLException {
        Set<Slot> slots = new HashSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                slots.add(new Slot(row.getInt(1), RunId.of(row.getBytes(2))));
            }
        }
        return slots;
    }
}
