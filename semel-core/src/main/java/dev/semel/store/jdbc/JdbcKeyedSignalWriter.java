package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.KeyedSignalStoreWriteCommand.ListenResult;
import dev.semel.store.KeyedSignalStoreWriteCommand.SendResult;
import java.security.MessageDigest;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** On PostgreSQL the batch has locked address and runs: senders and new waits for a key run one after the other. */
final class JdbcKeyedSignalWriter {
    private static final long KEPT_MICROS = KeyedSignalStoreWriteCommand.RETENTION.toNanos() / 1_000;
    private static final long BEHIND_MICROS = KeyedSignalStoreWriteCommand.DELETE_DELAY.toNanos() / 1_000;

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
                OR l.compensating = 1)) AND l.waiting_since <= ?
        ORDER BY l.waiting_since, l.run, l.path LIMIT ?
        """;

    private static final String NEWEST_WAIT = """
        SELECT max(waiting_since) FROM semel_signal_wait WHERE ws = ? AND name = ? AND key = ?
        """;

    // Behind the runs that received a signal, if more runs wait for it than one transaction takes: their waits began at
    // this time or before it. A run that waits again later does not receive the signal twice.
    private static final String MORE_WAITS = "+";

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

    private final JdbcSession session;
    private final JdbcCancelAndSignalWriter runs;
    private final Supplier<RunId> ids;

    JdbcKeyedSignalWriter(JdbcSession session, JdbcCancelAndSignalWriter runs, Supplier<RunId> ids) {
        this.session = session;
        this.runs = runs;
        this.ids = ids;
    }

    Object apply(KeyedSignalStoreWriteCommand<?> keyedSignalOperation, long now) throws SQLException {
        return switch (keyedSignalOperation) {
            case KeyedSignalStoreWriteCommand.SendKeyedSignal send -> post(send, now);
            case KeyedSignalStoreWriteCommand.StartListening listen -> listen(listen, now);
            case KeyedSignalStoreWriteCommand.StopListening hush -> stopListening(hush.waiter());
            case KeyedSignalStoreWriteCommand.DeleteExpiredSignals delete ->
                session.update(DELETE_EXPIRED, now - BEHIND_MICROS, delete.limit());
        };
    }

    private record StoredSignal(RunId id, byte[] digest, String runs, long until) {}

    private record WaitingStep(RunId run, String path) {}

    private SendResult post(KeyedSignalStoreWriteCommand.SendKeyedSignal send, long now) throws SQLException {
        KeyedSignalStoreWriteCommand.SignalAddress to = send.to();
        session.update(DELETE_IF_EXPIRED, to.workspace(), to.name(), send.signalId(), now);
        boolean fresh = session.update(
                        WRITE,
                        to.workspace(),
                        to.name(),
                        send.signalId(),
                        to.key(),
                        send.requestId(),
                        send.digest(),
                        send.value(),
                        now,
                        now + KEPT_MICROS)
                == 1;
        if (!fresh) {
            return repeated(send, now);
        }
        // Not the time of this transaction: a wait that was registered before may have a later one.
        Long newest = session.queryOne(NEWEST_WAIT, row -> row.getLong(1), to.workspace(), to.name(), to.key());
        StoredSignal stored = new StoredSignal(send.requestId(), send.digest(), "", now + KEPT_MICROS);
        return deliver(send, stored, newest == null ? 0 : newest, now);
    }

    /** Delivers to the waits that began until then, longest waiting first, as many as one transaction takes. */
    private SendResult deliver(
            KeyedSignalStoreWriteCommand.SendKeyedSignal send, StoredSignal storedSignal, long newestWait, long now)
            throws SQLException {
        KeyedSignalStoreWriteCommand.SignalAddress to = send.to();
        int most = KeyedSignalStoreWriteCommand.maxListeners(send.value());
        List<WaitingStep> listeners = session.queryList(
                WAITS,
                row -> new WaitingStep(RunId.of(row.getBytes(1)), row.getString(2)),
                to.workspace(),
                to.name(),
                to.key(),
                newestWait,
                most + 1);
        boolean more = listeners.size() > most;
        for (WaitingStep one : more ? listeners.subList(0, most) : listeners) {
            runs.deliver(one.run(), signal(one.path(), send.value(), now));
            session.update(DELETE_WAIT, one.run(), one.path());
        }
        List<RunId> got = Stream.concat(
                        runs(storedSignal.runs()).stream(),
                        listeners.stream().limit(most).map(WaitingStep::run))
                .distinct()
                .toList();
        if (!got.isEmpty()) {
            String delivered = texts(got) + (more ? " " + MORE_WAITS + newestWait : "");
            session.update(MARK_DELIVERED, delivered, to.workspace(), to.name(), send.signalId());
        }
        boolean repeated = !storedSignal.id().equals(send.requestId());
        return new SendResult.Sent(got, storedSignal.until(), repeated, more);
    }

    private SendResult repeated(KeyedSignalStoreWriteCommand.SendKeyedSignal send, long now) throws SQLException {
        StoredSignal storedSignal = Objects.requireNonNull(session.queryOne(
                FIND,
                row -> new StoredSignal(RunId.of(row.getBytes(1)), row.getBytes(2), row.getString(3), row.getLong(4)),
                send.to().workspace(),
                send.to().name(),
                send.signalId()));
        if (!MessageDigest.isEqual(storedSignal.digest(), send.digest())) {
            return new SendResult.DifferentSignal();
        }
        int more = storedSignal.runs().indexOf(MORE_WAITS);
        return more < 0
                ? new SendResult.Sent(
                        runs(storedSignal.runs()),
                        storedSignal.until(),
                        !storedSignal.id().equals(send.requestId()))
                : deliver(send, storedSignal, Long.parseLong(storedSignal.runs().substring(more + 1)), now);
    }

    private JdbcCancelAndSignalWriter.SignalMessage signal(String path, String value, long now) {
        return new JdbcCancelAndSignalWriter.SignalMessage(
                ids.get(),
                KeyedSignalStoreWriteCommand.SIGNAL_PREFIX + path,
                KeyedSignalStoreWriteCommand.SIGNAL_KEY,
                value,
                now);
    }

    private ListenResult listen(KeyedSignalStoreWriteCommand.StartListening listen, long now) throws SQLException {
        KeyedSignalStoreWriteCommand.SignalWaiter ear = listen.waiter();
        KeyedSignalStoreWriteCommand.SignalAddress to = listen.to();
        if (!isOwned(ear)) {
            return ListenResult.GONE;
        }
        if (hasSignal(ear)) {
            return ListenResult.SIGNAL;
        }
        String[] kept = session.queryOne(
                OLDEST_PENDING,
                row -> new String[] {row.getString(1), row.getString(2)},
                to.workspace(),
                to.name(),
                to.key(),
                now,
                listen.since());
        if (kept == null) {
            int undoing = listen.compensating() ? 1 : 0;
            session.update(
                    ADD_WAIT, ear.by().run(), ear.storedPath(), to.workspace(), to.name(), to.key(), now, undoing);
            return ListenResult.NOTHING;
        }
        session.update(MARK_DELIVERED, ear.by().run().text(), to.workspace(), to.name(), kept[0]);
        runs.deliver(ear.by().run(), signal(ear.storedPath(), kept[1], now));
        session.update(DELETE_WAIT, ear.by().run(), ear.storedPath());
        return ListenResult.SIGNAL;
    }

    private ListenResult stopListening(KeyedSignalStoreWriteCommand.SignalWaiter ear) throws SQLException {
        if (!isOwned(ear)) {
            return ListenResult.GONE;
        }
        session.update(DELETE_WAIT, ear.by().run(), ear.storedPath());
        return hasSignal(ear) ? ListenResult.SIGNAL : ListenResult.NOTHING;
    }

    private boolean isOwned(KeyedSignalStoreWriteCommand.SignalWaiter ear) throws SQLException {
        return session.exists(IS_OWNED, ear.by().run(), ear.by().claim());
    }

    private boolean hasSignal(KeyedSignalStoreWriteCommand.SignalWaiter ear) throws SQLException {
        return session.exists(HAS_SIGNAL, ear.by().run(), ear.signalName(), KeyedSignalStoreWriteCommand.SIGNAL_KEY);
    }

    private static String texts(List<RunId> runs) {
        return runs.stream().map(RunId::text).collect(Collectors.joining(" "));
    }

    private static List<RunId> runs(String texts) {
        return Arrays.stream(texts.split(" "))
                .filter(text -> !text.isEmpty() && !text.startsWith(MORE_WAITS))
                .map(text -> Objects.requireNonNull(RunId.parse(text)))
                .toList();
    }
}
