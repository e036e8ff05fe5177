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

/** Taking names for a run, and what a run inherits from those that had them before. */
final class SqliteNames {
    private static final String TAKE_NAME = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, key) DO NOTHING
        """;

    private static final String RETAKE_NAME = """
        UPDATE semel_key SET run = ?, digest = ?, first_at = ?, expires_at = ?, flags = ?
        WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND expires_at = ?
        """;

    private final Session session;

    SqliteNames(Session session) {
        this.session = session;
    }

    /** False: somebody has it. */
    boolean take(Wish wish, RunId mine, long now) throws SQLException {
        return session.update(
                        TAKE_NAME,
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
                RETAKE_NAME,
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
            throw new IllegalStateException("a name changed hands inside the only writing transaction");
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

    /** The run before this one, of an admission that is applied again after a lost answer: its names tell no more. */
    Write.@Nullable Earlier recorded(RunId run) throws SQLException {
        return session.one("""
            SELECT p.run, p.chosen_id FROM semel_run r JOIN semel_run p ON p.run = r.previous_run WHERE r.run = ?
            """, row -> new Write.Earlier(RunId.of(row.getBytes(1)), row.getString(2), false), run);
    }

    /** A name that is not live and goes to the new run. */
    record Retake(Wish wish, Known known, Standing standing) {}

    /** The failed run whose line this one would continue without saying so; null where there is none. */
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
     * Where the new run comes from: its lineage, the run before it, the run with the same payload.
     *
     * @param sinceAt when its key was first used, where it has expired since; 0 elsewhere
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
                // A payload that was seen under another key says nothing about who used this key before.
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
