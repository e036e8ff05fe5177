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
 * The admission of a batch: insert all names, read those that were lost, take over those that are free, then insert
 * the runs. Uniqueness is the constraint's; nothing is looked up before it is inserted.
 */
final class Admitting {
    private static final String TAKE = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        SELECT ws, kind, key, run, digest, ?, expires_at, flags
        FROM unnest(?::int[], ?::int[], ?::text[], ?::bytea[], ?::bytea[], ?::bigint[], ?::int[])
            AS u(ws, kind, key, run, digest, expires_at, flags)
        ON CONFLICT (ws, kind, key) DO NOTHING
        RETURNING kind, run
        """;

    // Rows are locked sorted, by the order of the arrays; run and expiry say that nobody took the name meanwhile.
    private static final String RETAKE = """
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

    private static final String LET_GO = """
        DELETE FROM semel_key k USING unnest(?::int[], ?::int[], ?::text[], ?::bytea[]) AS u(ws, kind, key, run)
        WHERE k.ws = u.ws AND k.kind = u.kind AND k.key = u.key AND k.run = u.run
        """;

    /** When, by the store's clock, under which catalog and under which lease. */
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

    private record Slot(int kind, RunId run) {}

    void apply(List<PostgresLane.Indexed<Write.Admit>> admits, Locking locks, Object[] outcomes) throws SQLException {
        Map<Name, Case> leaders = new HashMap<>();
        List<Case> cases = new ArrayList<>();
        List<Case> followers = new ArrayList<>();
        Set<String> quiet = new HashSet<>();
        for (var indexed : admits) {
            Case one = new Case(indexed, locks);
            NewRun.Gate gate = one.admit.run().gate();
            if (gate != null
                    && gate.debounce() != null
                    && !quiet.add(gate.debounce().name())) {
                outcomes[one.at] = new Admitted.Again(); // the one before it makes the run that takes it in
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
        take(cases);
        waitForLeaders(cases, leaders);
        retake(cases);
        share(cases, leaders);
        letGo(cases);
        create(cases, outcomes);
        takeIn(cases, outcomes);
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

    private void take(List<Case> cases) throws SQLException {
        List<Claimed> all = claimed(cases);
        if (all.isEmpty()) {
            return;
        }
        PreparedStatement statement = session.statement(TAKE);
        Arrays arrays = new Arrays(session, statement).one(moment.now());
        bindNames(arrays, all);
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
            meet(missed);
        }
    }

    /** Reads who has the names that were not inserted. */
    private void meet(List<Claimed> missed) throws SQLException {
        List<@Nullable Known> found = PostgresReads.find(
                        session, missed.stream().map(c -> c.wish().name()).toList(), skew)
                .known();
        for (int i = 0; i < missed.size(); i++) {
            Claimed c = missed.get(i);
            Known known = found.get(i);
            if (c.of().taker != null) {
                c.of().again |= c.wish().binding(); // the name was free a moment ago; the next look finds its holder
            } else if (known == null) {
                c.of().again = true; // swept or let go between the two statements
            } else if (known.run().equals(c.of().run())) {
                c.of().lineage = known.lineage(); // applied again after a lost answer
            } else {
                c.of().lost.add(new Case.Lost(c.wish(), known, Admissions.standing(known, moment.now())));
            }
        }
    }

    /** Gives expired, released and failed names to the triggers that nothing else stops. */
    private void retake(List<Case> cases) throws SQLException {
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
        PreparedStatement statement = session.statement(RETAKE);
        Arrays arrays = new Arrays(session, statement);
        bindNames(arrays, wanted);
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
            // Somebody else was faster. A trigger with several names may hold some of them now: undo the whole batch.
            if (c.of().admit.wishes().size() > 1) {
                throw new SQLException("a name changed hands; the batch is applied again", "40001");
            }
            c.of().again = true;
        }
    }

    /** Where the first who wanted a name did not get it, those who share it try again: before they take anything over. */
    private static void waitForLeaders(List<Case> cases, Map<Name, Case> leaders) {
        for (Case one : cases) {
            one.again |= one.shared.stream().map(wish -> leader(wish, leaders)).anyMatch(l -> l.again || l.blocked());
        }
    }

    /** Tells those who share a name that does not bind who has it now. */
    private void share(List<Case> cases, Map<Name, Case> leaders) throws SQLException {
        for (Case one : cases) {
            for (Wish wish : one.again ? List.<Wish>of() : one.shared) {
                Case leader = leader(wish, leaders);
                if (leader.again) {
                    throw new SQLException("a shared name changed hands; the batch is applied again", "40001");
                }
                Known holder = holder(leader, wish.name(), origins(leader).lineage());
                one.lost.add(new Case.Lost(wish, holder, Standing.LIVE));
            }
        }
    }

    private static Case leader(Wish wish, Map<Name, Case> leaders) {
        return Objects.requireNonNull(leaders.get(wish.name()));
    }

    /** A refusal leaves no row. */
    private void letGo(List<Case> cases) throws SQLException {
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
        PreparedStatement statement = session.statement(LET_GO);
        bindNames(new Arrays(session, statement), back);
        statement.executeUpdate();
    }

    private void create(List<Case> cases, Object[] outcomes) throws SQLException {
        List<Creating.Row> fresh = cases.stream()
                .filter(one -> !one.again && !one.blocked() && one.taker == null)
                .map(one -> new Creating.Row(one.at, one.admit, origins(one), one.sinceAt()))
                .toList();
        new Creating(session, moment, counted).apply(fresh, outcomes);
    }

    private void takeIn(List<Case> cases, Object[] outcomes) throws SQLException {
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
                // A payload that was seen under another key says nothing about who used this key before.
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

    /** A trigger that shares a name with one before it in the batch gets what that one found or made. */
    private Admitted follow(Case follower, Map<Name, Case> leaders, Object[] outcomes) {
        List<@Nullable Known> known = new ArrayList<>();
        boolean any = false;
        for (Wish wish : follower.admit.wishes()) {
            if (!wish.binding()) {
                known.add(null); // as where the store tells it: what does not bind stops nobody
                continue;
            }
            Case leader = leaders.get(wish.name());
            // Whether a run behind a gate has started, or who took its trigger in, is told by the next transaction.
            if (leader == null || leader.again || leader.admit.run().gate() != null) {
                return new Admitted.Again();
            }
            Known holder = followed(leader, wish.name(), outcomes);
            any |= holder != null;
            known.add(holder);
        }
        return any ? new Admitted.Held(moment.now(), known) : new Admitted.Again();
    }

    /** Null: the leader was stopped by another name and let this one go. */
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

    /** Who has a name of a leader that is fresh: whom the leader found there, or the leader itself. */
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

    /** A wish of a case; {@code old} is what the name held before, where it is taken over. */
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

    private static void bindNames(Arrays arrays, List<Claimed> all) throws SQLException {
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
