package dev.semel.store.sqlite;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Claims unique keys for a run and determines what it inherits from the previous runs of these keys. */
final class SqliteDeduplicationKeyClaimer {
    private static final String CLAIM_KEY = """
        INSERT INTO semel_key (ws, kind, key, run, digest, first_at, expires_at, flags)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ws, kind, key) DO NOTHING
        """;

    private static final String TAKE_OVER_KEY = """
        UPDATE semel_key SET run = ?, digest = ?, first_at = ?, expires_at = ?, flags = ?
        WHERE ws = ? AND kind = ? AND key = ? AND run = ? AND expires_at = ?
        """;

    private final JdbcSession session;

    SqliteDeduplicationKeyClaimer(JdbcSession session) {
        this.session = session;
    }

    /** Claims a key. False: it is in the table already. */
    boolean claim(RunDeduplicationKeyClaim claim, RunId mine, long now) throws SQLException {
        return session.update(
                        CLAIM_KEY,
                        claim.key().workspace(),
                        claim.key().kind().code(),
                        claim.key().text(),
                        mine,
                        claim.digest(),
                        now,
                        claim.expiresAt(now),
                        claim.flags())
                == 1;
    }

    void takeOver(KeyTakeover retake, RunId mine, long now) throws SQLException {
        RunDeduplicationKeyClaim claim = retake.claim();
        int changed = session.update(
                TAKE_OVER_KEY,
                mine,
                claim.digest(),
                now,
                claim.expiresAt(now),
                claim.flags(),
                claim.key().workspace(),
                claim.key().kind().code(),
                claim.key().text(),
                retake.keyRecord().run(),
                retake.keyRecord().expiresAt());
        if (changed != 1) {
            throw new IllegalStateException("A key moved to another run inside the only write transaction");
        }
    }

    void release(RunDeduplicationKeyClaim claim, RunId mine) throws SQLException {
        session.update(
                "DELETE FROM semel_key WHERE ws = ? AND kind = ? AND key = ? AND run = ?",
                claim.key().workspace(),
                claim.key().kind().code(),
                claim.key().text(),
                mine);
    }

    /** Returns the previous run of a recorded run: on a retry after a lost response the keys no longer show it. */
    StoreWrite.@Nullable PreviousHolder findPrevious(RunId run) throws SQLException {
        return session.queryOne(
                """
                SELECT p.run, p.chosen_id FROM semel_run r JOIN semel_run p ON p.run = r.previous_run WHERE r.run = ?
                """, row -> new StoreWrite.PreviousHolder(RunId.of(row.getBytes(1)), row.getString(2), false), run);
    }

    /** A key that is free again and moves to the new run. */
    record KeyTakeover(RunDeduplicationKeyClaim claim, RunDeduplicationKeyRecord keyRecord, KeyStatus keyState) {}

    /** Returns the failed run whose lineage the trigger would continue without declaring it, or null. */
    static @Nullable RunDeduplicationKeyRecord findFailedHolder(List<KeyTakeover> retakes, StoreWrite.AdmitRun admit) {
        for (KeyTakeover retake : retakes) {
            if (retake.claim().key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
                RunDeduplicationKeyRecord keyRecord = retake.keyRecord();
                return retake.keyState() == KeyStatus.FAILED && !admit.continuesLineage(keyRecord) ? keyRecord : null;
            }
        }
        return null;
    }

    /** @param keyFirstUsedAt when its expired key was first used; 0 if none expired */
    record RunOrigins(
            RunId lineage,
            StoreWrite.@Nullable PreviousHolder previousHolder,
            @Nullable RunDeduplicationKeyRecord duplicateOf,
            long keyFirstUsedAt) {
        static RunOrigins of(
                RunId ownLineage, List<KeyTakeover> retakes, @Nullable RunDeduplicationKeyRecord duplicateOf) {
            RunId lineage = ownLineage;
            StoreWrite.PreviousHolder earlier = null;
            long sinceAt = 0;
            for (KeyTakeover retake : retakes) {
                // The payload of another key does not identify the previous run of this key.
                if (earlier == null && retake.claim().key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
                    RunDeduplicationKeyRecord keyRecord = retake.keyRecord();
                    boolean expired = retake.keyState() == KeyStatus.EXPIRED;
                    earlier = new StoreWrite.PreviousHolder(keyRecord.run(), keyRecord.chosenRunId(), expired);
                    sinceAt = expired ? keyRecord.firstAt() : 0;
                    lineage = retake.keyState() == KeyStatus.FAILED ? keyRecord.lineage() : ownLineage;
                }
            }
            return new RunOrigins(lineage, earlier, duplicateOf, sinceAt);
        }
    }
}
