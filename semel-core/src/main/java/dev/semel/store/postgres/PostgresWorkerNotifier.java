package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.CommitBatch;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowStore;
import dev.semel.store.jdbc.JdbcSession;
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

/** NOTIFY is part of the transaction that created work. It may be lost; polling finds the work a moment later. */
final class PostgresWorkerNotifier implements WorkflowStore.WakeSubscription {
    private static final Logger LOG = System.getLogger(PostgresWorkerNotifier.class.getName());
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

    PostgresWorkerNotifier(PostgresStore store, Consumer<@Nullable RunId> onWake) {
        this.store = store;
        this.onWake = onWake;
        this.thread =
                Thread.ofPlatform().name("semel-notifications").daemon(true).start(this::loop);
    }

    /** Collects the notifications of a batch: runs that received something, or an empty text for new work. */
    static Set<String> collect(CommitBatch batch, Object[] outcomes, boolean placesFreed) {
        Set<String> hints = new LinkedHashSet<>();
        if (placesFreed) {
            hints.add(ANY);
        }
        for (int i = 0; i < outcomes.length && hints.size() < MOST_AT_ONCE; i++) {
            Object outcome = outcomes[i];
            switch (batch.writes().get(i)) {
                case StoreWrite.AdmitRun admit
                when outcome instanceof StoreWrite.AdmitResult.Fresh && !admit.hasCapacity() -> hints.add(ANY);
                case StoreWrite.ExecuteCommand<?>(StoreWriteCommand.KeyedSignalCommand<?> _) ->
                    addReceivers(hints, outcome);
                case StoreWrite.ExecuteCommand<?> change -> add(hints, change.command());
                default -> {}
            }
        }
        return hints;
    }

    private static void add(Set<String> hints, StoreWriteCommand<?> edit) {
        switch (edit) {
            case StoreWriteCommand.IdempotentCommand<?> once -> add(hints, once.command());
            case StoreWriteCommand.AuditedCommand<?> noted -> add(hints, noted.command());
            case StoreWriteCommand.ReviewCommand<?>(HumanReviewStoreWriteCommand.DecideReview rule) ->
                add(hints, rule.command());
            case StoreWriteCommand.ReviewCommand<?> _ -> {}
            case StoreWriteCommand.SendSignal signal -> hints.add(signal.run().text());
            case StoreWriteCommand.CancelRun cancel -> hints.add(cancel.run().text());
            case StoreWriteCommand.DecideEffect decide -> hints.add(decide.run().text());
            case StoreWriteCommand.ContinueHeldRun on -> hints.add(on.run().text());
            case StoreWriteCommand.WakeRuns wake -> wake.runs().forEach(run -> hints.add(run.text()));
            case StoreWriteCommand.DeleteTombstones _,
                    StoreWriteCommand.DeleteExpiredReplies _,
                    StoreWriteCommand.DiscardSignal _,
                    StoreWriteCommand.DeleteEvents _,
                    StoreWriteCommand.DeleteRuns _,
                    StoreWriteCommand.ErasePayloads _,
                    StoreWriteCommand.DeleteOldHistory _,
                    StoreWriteCommand.ReleaseKeys _,
                    StoreWriteCommand.ReplayPlanCommand<?> _,
                    StoreWriteCommand.RecordDelivery _,
                    StoreWriteCommand.DeleteExpiredDeliveries _,
                    StoreWriteCommand.SaveSetting _,
                    StoreWriteCommand.ChangeSettingIfCatalogUnchanged _,
                    StoreWriteCommand.RemoveSetting _ -> {}
            default -> hints.add(ANY);
        }
    }

    /** Any worker may execute the runs that got a keyed signal. */
    private static void addReceivers(Set<String> hints, Object outcome) {
        if (outcome instanceof KeyedSignalStoreWriteCommand.SendResult.Sent sent && !sent.repeated()) {
            sent.runs().stream().limit(MOST_AT_ONCE).forEach(run -> hints.add(run.text()));
        }
    }

    static void send(JdbcSession session, String sender, Set<String> hints) throws SQLException {
        for (String hint : hints) {
            session.queryOne("SELECT pg_notify('" + CHANNEL + "', ?)", _ -> 1, sender + " " + hint);
        }
    }

    private void loop() {
        while (!closing) {
            try (Connection connection = store.connect(PostgresConnectionPurpose.LISTEN)) {
                listening = connection;
                listen(connection);
            } catch (SQLException | StoreFailure e) {
                if (!closing) {
                    LOG.log(
                            Level.DEBUG,
                            "This worker lost its connection for notifications from other workers and reconnects: "
                                    + e.getMessage());
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
                if (!words[0].equals(store.workerId())) {
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
