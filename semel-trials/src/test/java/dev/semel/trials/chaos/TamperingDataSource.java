package dev.semel.trials.chaos;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a worker: as the driver makes them, but that a planted bug rewrites statements on their way, and
 * that the process can be notified to stand still right behind the fence of its next batch, inside the open transaction.
 */
final class TamperingDataSource implements DataSource {
    private static final String FENCE = "FROM semel_fence WHERE lease = ? AND slot = ? FOR NO KEY UPDATE";
    private static final String NO_FENCE = """
        FROM (SELECT revision AS catalog_revision FROM semel_catalog WHERE singleton = 1) c
        WHERE ?::bigint IS NOT NULL AND ?::integer IS NOT NULL
        """;
    private static final String LIVE_KEYS = """
        DELETE FROM semel_key WHERE kind = 1
            AND first_at < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 2000000
        """;

    private static final Duration SOON = Duration.ofSeconds(1);

    private final ChaosChild.WorkerConfig life;
    private final WorkerEventLog events;
    private final AtomicLong freezeUntil = new AtomicLong();
    private final Set<String> planted = ConcurrentHashMap.newKeySet();

    TamperingDataSource(ChaosChild.WorkerConfig life, WorkerEventLog events) {
        this.life = life;
        this.events = events;
    }

    /** The process stops itself behind the next fence, if one comes soon: later nobody would wake it. */
    void freezeInNextBatch() {
        freezeUntil.set(System.nanoTime() + SOON.toNanos());
    }

    /** Once for each bug and statement: a bug that was never in anybody's way shows nothing. */
    void planted(String where) {
        if (planted.add(where)) {
            events.note("planted", where);
        }
    }

    /** The bug of a sweeper that does not look at the window. */
    void sweepLiveKeys() {
        while (true) {
            LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
            try (Connection connection = DriverManager.getConnection(life.url());
                    Statement statement = connection.createStatement()) {
                if (statement.executeUpdate(LIVE_KEYS) > 0) {
                    planted("sweeper");
                }
            } catch (SQLException e) {
                System.err.println("the sweeper failed: " + e.getMessage());
            }
        }
    }

    private String rewritten(String sql) {
        String other = switch (life.bug()) {
            case FENCE_DROPPED -> sql.replace(FENCE, NO_FENCE);
            case FENCE_WITHOUT_LOCK -> sql.contains(FENCE) ? sql.replace(" FOR NO KEY UPDATE", "") : sql;
            case CLAIM_WITHOUT_LOCK ->
                sql.contains("semel_unfinished_run")
                        ? sql.replaceAll("FOR (NO KEY )?UPDATE( OF \\w+)? SKIP LOCKED", "")
                        : sql;
            case CLAIM_NOT_COUNTED -> sql.replace("claim_count = w.claim_count + 1", "claim_count = w.claim_count");
            case TAKEOVER_BY_OWN_CLOCK ->
                sql.contains("semel_lease")
                        ? sql.replace("expires_at < (", "expires_at - " + life.skewMicros() + " < (")
                        : sql;
            case LOOK_THEN_INSERT ->
                sql.contains("INSERT INTO semel_key")
                        ? sql.replace(
                                "ON CONFLICT (ws, kind, key) DO NOTHING",
                                "WHERE NOT EXISTS (SELECT 1 FROM semel_key k"
                                        + " WHERE k.ws = u.ws AND k.kind = u.kind AND k.key = u.key)")
                        : sql;
            default -> sql;
        };
        if (!other.equals(sql)) {
            planted("statement " + Integer.toHexString(sql.hashCode()));
        }
        return other;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection real = DriverManager.getConnection(life.url());
        return proxy(Connection.class, (method, args) -> {
            if (method.getName().equals("prepareStatement") && args != null && args.length == 1) {
                String sql = (String) args[0];
                PreparedStatement statement = real.prepareStatement(rewritten(sql));
                return sql.contains(FENCE) ? behindTheFence(statement) : statement;
            }
            return method.invoke(real, args);
        });
    }

    private PreparedStatement behindTheFence(PreparedStatement real) {
        return proxy(PreparedStatement.class, (method, args) -> {
            Object answer = method.invoke(real, args);
            if (method.getName().equals("executeQuery") && freezeUntil.get() != 0) {
                long until = freezeUntil.getAndSet(0);
                if (until != 0 && System.nanoTime() < until) {
                    standStill();
                }
            }
            return answer;
        });
    }

    /** SIGSTOP to ourselves: no thread of this process goes on until somebody sends SIGCONT. */
    private static void standStill() throws IOException, InterruptedException {
        String pid = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-STOP", pid).start().waitFor();
    }

    @FunctionalInterface
    private interface ConnectionCall {
        @Nullable
        Object on(Method method, Object @Nullable [] args) throws Exception;
    }

    private static <T> T proxy(Class<T> type, ConnectionCall call) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, method, args) -> {
            try {
                return call.on(method, args);
            } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
            }
        }));
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("nothing is inside");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
