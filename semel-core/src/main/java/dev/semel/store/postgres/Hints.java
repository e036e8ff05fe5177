package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.Batch;
import dev.semel.store.Edit;
import dev.semel.store.Letter;
import dev.semel.store.Review;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.store.jdbc.Session;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/**
 * Wakes other workers by PostgreSQL NOTIFY in the transaction that created work, and listens for their notifications. A
 * notification may be lost; polling finds the work a moment later.
 */
final class Hints implements Store.Listening {
    private static final Logger LOG = System.getLogger(Hints.class.getName());
    private static final String CHANNEL = "semel_wakeup";
    private static final int MOST_AT_ONCE = 32;
    private static final int LISTEN_MILLIS = 10_000;
    private static final long RECONNECT_NANOS = 2_000_000_000L;
    private static final String ANY = "";

    private final PostgresStore store;
    private final Consumer<@Nullable RunId> onWake;
    private final Thread thread;
    private volatile boolean closing;
    private volatile @Nullable Connection listening;

    Hints(PostgresStore store, Consumer<@Nullable RunId> onWake) {
        this.store = store;
        this.onWake = onWake;
        this.thread = Thread.ofPlatform().name("semel-notifications").daemon(true).start(this::loop);
    }

    /** Collects the notifications of a batch: runs that received something, or an empty text for new work. */
    static Set<String> of(Batch batch, Object[] outcomes, boolean placesFreed) {
        Set<String> hints = new LinkedHashSet<>();
        if (placesFreed) {
            hints.add(ANY);
        }
        for (int i = 0; i < outcomes.length && hints.size() < MOST_AT_ONCE; i++) {
            Object outcome = outcomes[i];
            switch (batch.writes().get(i)) {
                case Write.Admit admit when outcome instanceof Write.Admitted.Fresh && !admit.own() -> hints.add(ANY);
                case Write.Change<?>(Edit.Mail<?> _) -> addReceivers(hints, outcome);
                case Write.Change<?> change -> add(hints, change.edit());
                default -> {}
            }
        }
        return hints;
    }

    private static void add(Set<String> hints, Edit<?> edit) {
        switch (edit) {
            case Edit.Once<?> once -> add(hints, once.edit());
            case Edit.Noted<?> noted -> add(hints, noted.edit());
            case Edit.Reviewing<?>(Review.Rule rule) -> add(hints, rule.deed());
            case Edit.Reviewing<?> _ -> {}
            case Edit.Signal signal -> hints.add(signal.run().text());
            case Edit.Cancel cancel -> hints.add(cancel.run().text());
            case Edit.Decide decide -> hints.add(decide.run().text());
            case Edit.GoOn on -> hints.add(on.run().text());
            case Edit.Wake wake -> wake.runs().forEach(run -> hints.add(run.text()));
            case Edit.DeleteNames _,
                    Edit.DeleteReplies _,
                    Edit.DeleteEvents _,
                    Edit.DeleteRuns _,
                    Edit.BlankRuns _,
                    Edit.Forget _,
                    Edit.ReleaseAll _,
                    Edit.Replaying<?> _,
                    Edit.Receive _,
                    Edit.DeleteDeliveries _,
                    Edit.Put _,
                    Edit.PlaceAsOf _,
                    Edit.Remove _ -> {}
            default -> hints.add(ANY);
        }
    }

    /** Any worker may execute the runs that got a keyed signal. */
    private static void addReceivers(Set<String> hints, Object outcome) {
        if (outcome instanceof Letter.Posted.Sent sent && !sent.repeated()) {
            sent.runs().stream().limit(MOST_AT_ONCE).forEach(run -> hints.add(run.text()));
        }
    }

    static void send(Session session, String sender, Set<String> hints) throws SQLException {
        for (String hint : hints) {
            session.one("SELECT pg_notify('" + CHANNEL + "', ?)", _ -> 1, sender + " " + hint);
        }
    }

    private void loop() {
        while (!closing) {
            try (Connection connection = store.connect(Purpose.LISTEN)) {
                listening = connection;
                listen(connection);
            } catch (SQLException | StoreFailure e) {
                if (!closing) {
                    LOG.log(Level.DEBUG, "Lost the notifications of other workers; reconnecting: " + e.getMessage());
                    LockSupport.parkNanos(RECONNECT_NANOS);
                }
            }
        }
    }

    private void listen(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN " + CHANNEL);
        }
        PGConnection driver = connection.unwrap(PGConnection.class);
        onWake.accept(null); // for notifications missed while disconnected
        while (!closing) {
            PGNotification[] heard = driver.getNotifications(LISTEN_MILLIS);
            if (heard == null || heard.length == 0) {
                connection.isValid(5); // detects a dead connection
                continue;
            }
            for (PGNotification one : heard) {
                String[] words = one.getParameter().split(" ", -1);
                if (!words[0].equals(store.self())) {
                    onWake.accept(words.length < 2 ? null : RunId.parse(words[1]));
                }
            }
        }
    }

    @Override
    public void close() {
        closing = true;
        Connection connection = listening;
        try {
            if (connection != null) {
                connection.abort(Runnable::run);
            }
            LockSupport.unpark(thread);
            thread.join(5_000);
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, "The notification connection was closed already: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
