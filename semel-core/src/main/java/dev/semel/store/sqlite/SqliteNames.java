package dev.semel.store.sqlite;

import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Name;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Session;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Claims unique keys for a run and determines what it inherits from the previous runs of these keys. */
final class SqliteNames {
    private static final String CLAIM_KEY = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, key) DO NOTHING
        """;

    private static final String TAKE_OVER_KEY = """
        UPDATE semel_key SET run = ?, digest = ?, first_at = ?, expires_at = ?, flags = ?
        WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND expires_at = ?
        """;

    private final Session session;

    SqliteNames(Session session) {
        this.session = session;
    }

    /** Claims a key. False: it is in the table already. */
    boolean take(Wish wish, RunId mine, long now) throws SQLException {
        return session.update(
                        CLAIM_KEY,
                        wish.name().workspace(),
                        wish.name().kind().code(),
                        wish.name().text(),
                        mine,
                        wish.digest(),
                        now,
                        wish.expiresAt(now),
                        wish.flags())
                == 1;
    }

    void retake(Retake retake, RunId mine, long now) throws SQLException {
        Wish wish = retake.wish();
        int changed = session.update(
                TAKE_OVER_KEY,
                mine,
                wish.digest(),
                now,
                wish.expiresAt(now),
                wish.flags(),
                wish.name().workspace(),
                wish.name().kind().code(),
                wish.name().text(),
                retake.known().run(),
                retake.known().expiresAt());
        if (changed != 1) {
            throw new IllegalStateException("A key moved to another run inside the only write transaction");
        }
    }

    void letGo(Wish wish, RunId mine) throws SQLException {
        session.update(
                "DELETE FROM semel_key WHERE ws = ? AND kind = ? AND key = ? AND run = ?",
                wish.name().workspace(),
                wish.name().kind().code(),
                wish.name().text(),
                mine);
    }

    /** Returns the previous run of a recorded run: on a retry after a lost response the keys no longer show it. */
    Write.@Nullable Earlier recorded(RunId run) throws SQLException {
        return session.one("""
            SELECT p.run, p.chosen_id FROM semel_run r JOIN semel_run p ON p.run = r.previous_run WHERE r.run = ?
            """, row -> new Write.Earlier(RunId.of(row.getBytes(1)), row.getString(2), false), run);
    }

    /** A key that is free again and moves to the new run. */
    record Retake(Wish wish, Known known, Standing standing) {}

    /** Returns the failed run whose lineage the trigger would continue without declaring it, or null. */
    static @Nullable Known failed(List<Retake> retakes, Write.Admit admit) {
        for (Retake retake : retakes) {
            if (retake.wish().name().kind() != Name.Kind.PAYLOAD) {
                Known known = retake.known();
                return retake.standing() == Standing.FAILED && !admit.continues(known) ? known : null;
            }
        }
        return null;
    }

    /**
     * The origins of a new run: its lineage, the previous run of its key, the run with the same payload.
     *
     * @param sinceAt when its expired key was first used; 0 if none expired
     */
    record Origins(
            RunId lineage,
            Write.@Nullable Earlier earlier,
            @Nullable Known duplicateOf,
            long sinceAt) {
        static Origins of(RunId ownLineage, List<Retake> retakes, @Nullable Known duplicateOf) {
            RunId lineage = ownLineage;
            Write.Earlier earlier = null;
            long sinceAt = 0;
            for (Retake retake : retakes) {
                // The payload of another key does not identify the previous run of this key.
                if (earlier == null && retake.wish().name().kind() != Name.Kind.PAYLOAD) {
                    Known known = retake.known();
                    boolean expired = retake.standing() == Standing.EXPIRED;
                    earlier = new Write.Earlier(known.run(), known.chosenRunId(), expired);
                    sinceAt = expired ? known.firstAt() : 0;
                    lineage = retake.standing() == Standing.FAILED ? known.lineage() : ownLineage;
                }
            }
            return new Origins(lineage, earlier, duplicateOf, sinceAt);
        }
    }
}
