package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.Letter;
import dev.semel.store.Letter.Heard;
import dev.semel.store.Letter.Posted;
import java.security.MessageDigest;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Sends keyed signals to waiting runs and registers signal waits. On PostgreSQL the batch has locked the address and
 * the runs before, so that a sender and a new wait for the same key run one after the other.
 */
final class Letters {
    private static final long KEPT_MICROS = Letter.KEPT.toNanos() / 1_000;
    private static final long BEHIND_MICROS = Letter.BEHIND.toNanos() / 1_000;

    private static final String DELETE_IF_EXPIRED = """
        DELETE FROM semel_keyed_signal WHERE ws = ? AND name = ? AND signal_id = ? AND expires_at <= ?
        """;

    private static final String WRITE = """
        INSERT INTO semel_keyed_signal (ws, name, signal_id, key, id, digest, value, delivered_to, at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?) ON CONFLICT (ws, name, signal_id) DO NOTHING
        """;

    private static final String FIND = """
        SELECT id, digest, delivered_to, expires_at FROM semel_keyed_signal WHERE ws = ? AND name = ? AND signal_id = ?
        """;

    // A run that ended or whose cancel was requested gets no more signals; its rows are deleted with it.
    private static final String WAITS = """
        SELECT l.run, l.path FROM semel_signal_wait l WHERE l.ws = ? AND l.name = ? AND l.key = ?
            AND EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = l.run AND (w.cancel_requested = 0
                OR l.compensating = 1))
        ORDER BY l.waiting_since, l.run, l.path LIMIT ?
        """;

    private static final String OLDEST_PENDING = """
        SELECT signal_id, value FROM semel_keyed_signal
        WHERE ws = ? AND name = ? AND key = ? AND delivered_to = '' AND expires_at > ? AND at >= ? ORDER BY at, id
            LIMIT 1
        """;

    private static final String MARK_DELIVERED = """
        UPDATE semel_keyed_signal SET delivered_to = ?, value = '' WHERE ws = ? AND name = ? AND signal_id = ?
        """;

    private static final String ADD_WAIT = """
        INSERT INTO semel_signal_wait (run, path, ws, name, key, waiting_since, compensating)
            VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (run, path) DO UPDATE SET name = excluded.name, key = excluded.key,
            compensating = excluded.compensating,
            waiting_since = CASE WHEN semel_signal_wait.name = excluded.name AND semel_signal_wait.key = excluded.key
                THEN semel_signal_wait.waiting_since ELSE excluded.waiting_since END
        """;

    private static final String DELETE_WAIT = "DELETE FROM semel_signal_wait WHERE run = ? AND path = ?";

    private static final String IS_OWNED = """
        SELECT 1 FROM semel_unfinished_run WHERE run = ? AND claim_count = ? AND owner IS NOT NULL
        """;

    private static final String HAS_SIGNAL = "SELECT 1 FROM semel_signal WHERE run = ? AND name = ? AND key = ?";

    private static final String DELETE_EXPIRED = """
        DELETE FROM semel_keyed_signal WHERE (ws, name, signal_id) IN (
            SELECT ws, name, signal_id FROM semel_keyed_signal WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
        """;

    private final Session session;
    private final RunEdits runs;
    private final Supplier<RunId> ids;

    Letters(Session session, RunEdits runs, Supplier<RunId> ids) {
        this.session = session;
        this.runs = runs;
        this.ids = ids;
    }

    Object apply(Letter<?> letter, long now) throws SQLException {
        return switch (letter) {
            case Letter.Post post -> post(post, now);
            case Letter.Listen listen -> listen(listen, now);
            case Letter.Hush hush -> stopListening(hush.ear());
            case Letter.Delete delete -> session.update(DELETE_EXPIRED, now - BEHIND_MICROS, delete.limit());
        };
    }

    /** A stored keyed signal that a repeated request found. */
    private record Known(RunId id, byte[] digest, String runs, long until) {}

    /** A step of a run that waits for a keyed signal. */
    private record Listener(RunId run, String path) {}

    private Posted post(Letter.Post post, long now) throws SQLException {
        Letter.Address to = post.to();
        session.update(DELETE_IF_EXPIRED, to.workspace(), to.name(), post.letter(), now);
        boolean fresh = session.update(
                        WRITE,
                        to.workspace(),
                        to.name(),
                        post.letter(),
                        to.key(),
                        post.by(),
                        post.digest(),
                        post.value(),
                        now,
                        now + KEPT_MICROS)
                == 1;
        if (!fresh) {
            return repeated(post);
        }
        List<Listener> listeners = session.list(
                WAITS,
                row -> new Listener(RunId.of(row.getBytes(1)), row.getString(2)),
                to.workspace(),
                to.name(),
                to.key(),
                Letter.MOST_LISTENERS);
        for (Listener one : listeners) {
            runs.deliver(one.run(), signal(one.path(), post.value(), now));
            session.update(DELETE_WAIT, one.run(), one.path());
        }
        List<RunId> got = listeners.stream().map(Listener::run).distinct().toList();
        if (!got.isEmpty()) {
            session.update(MARK_DELIVERED, texts(got), to.workspace(), to.name(), post.letter());
        }
        return new Posted.Sent(got, now + KEPT_MICROS, false);
    }

    private Posted repeated(Letter.Post post) throws SQLException {
        Known known = Objects.requireNonNull(session.one(
                FIND,
                row -> new Known(RunId.of(row.getBytes(1)), row.getBytes(2), row.getString(3), row.getLong(4)),
                post.to().workspace(),
                post.to().name(),
                post.letter()));
        return MessageDigest.isEqual(known.digest(), post.digest())
                ? new Posted.Sent(runs(known.runs()), known.until(), !known.id().equals(post.by()))
                : new Posted.OtherLetter();
    }

    private RunEdits.Message signal(String path, String value, long now) {
        return new RunEdits.Message(ids.get(), Letter.SIGNAL + path, Letter.ONLY, value, now);
    }

    private Heard listen(Letter.Listen listen, long now) throws SQLException {
        Letter.Ear ear = listen.ear();
        Letter.Address to = listen.to();
        if (!isOwned(ear)) {
            return Heard.GONE;
        }
        if (hasSignal(ear)) {
            return Heard.LETTER;
        }
        String[] kept = session.one(
                OLDEST_PENDING,
                row -> new String[] {row.getString(1), row.getString(2)},
                to.workspace(),
                to.name(),
                to.key(),
                now,
                listen.since());
        if (kept == null) {
            int undoing = listen.undoing() ? 1 : 0;
            session.update(ADD_WAIT, ear.by().run(), ear.path(), to.workspace(), to.name(), to.key(), now, undoing);
            return Heard.NOTHING;
        }
        session.update(MARK_DELIVERED, ear.by().run().text(), to.workspace(), to.name(), kept[0]);
        runs.deliver(ear.by().run(), signal(ear.path(), kept[1], now));
        session.update(DELETE_WAIT, ear.by().run(), ear.path());
        return Heard.LETTER;
    }

    private Heard stopListening(Letter.Ear ear) throws SQLException {
        if (!isOwned(ear)) {
            return Heard.GONE;
        }
        session.update(DELETE_WAIT, ear.by().run(), ear.path());
        return hasSignal(ear) ? Heard.LETTER : Heard.NOTHING;
    }

    private boolean isOwned(Letter.Ear ear) throws SQLException {
        return session.one(IS_OWNED, row -> 1, ear.by().run(), ear.by().claim()) != null;
    }

    private boolean hasSignal(Letter.Ear ear) throws SQLException {
        return session.one(HAS_SIGNAL, row -> 1, ear.by().run(), ear.signal(), Letter.ONLY) != null;
    }

    private static String texts(List<RunId> runs) {
        return runs.stream().map(RunId::text).collect(Collectors.joining(" "));
    }

    private static List<RunId> runs(String texts) {
        return Arrays.stream(texts.split(" "))
                .filter(text -> !text.isEmpty())
                .map(text -> Objects.requireNonNull(RunId.parse(text)))
                .toList();
    }
}
