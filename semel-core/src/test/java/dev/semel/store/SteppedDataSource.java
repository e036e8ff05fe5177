package dev.semel.store;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.Set;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections whose statements, commits and rollbacks stop at a turnstile. The limits of time that a store sets are
 * lifted, because here somebody who waits for a lock waits for as long as the schedule wants; a circle of locks is
 * found by the database, soon.
 */
final class SteppedDataSource implements DataSource {
    private static final Set<String> EXECUTES = Set.of("execute", "executeQuery", "executeUpdate", "executeBatch");

    private final String url;
    private final StatementGate turnstile;

    SteppedDataSource(String url, StatementGate turnstile) {
        this.url = url;
        this.turnstile = turnstile;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection real = DriverManager.getConnection(url);
        int pid;
        try (Statement statement = real.createStatement()) {
            statement.execute("SET deadlock_timeout = '100ms'");
            try (var row = statement.executeQuery("SELECT pg_backend_pid()")) {
                row.next();
                pid = row.getInt(1);
            }
        }
        return proxy(Connection.class, (_, method, arguments) -> switch (method.getName()) {
            case "commit" -> through(StatementFootprint.COMMIT, pid, () -> call(real, method, arguments));
            case "rollback", "close" -> through(StatementFootprint.ROLLBACK, pid, () -> call(real, method, arguments));
            case "createStatement" -> stepped(Statement.class, call(real, method, arguments), "", pid);
            case "prepareStatement" -> {
                String sql = patient(text(arguments));
                yield stepped(PreparedStatement.class, real.prepareStatement(sql), sql, pid);
            }
            default -> call(real, method, arguments);
        });
    }

    private <S extends Statement> S stepped(Class<S> type, @Nullable Object statement, String prepared, int pid) {
        return proxy(type, (_, method, arguments) -> {
            if (!EXECUTES.contains(method.getName())) {
                return call(statement, method, arguments);
            }
            String sql = prepared.isEmpty() ? text(arguments) : prepared;
            if (sql.startsWith("SET ")) {
                return call(statement, method, prepared.isEmpty() ? new Object[] {patient(sql)} : arguments);
            }
            return through(sql, pid, () -> call(statement, method, arguments));
        });
    }

    private static String patient(String sql) {
        return sql.replaceAll("(timeout = )'\\d+s'", "$1'120s'");
    }

    private @Nullable Object through(String sql, int pid, ConnectionCall call) throws Throwable {
        turnstile.pass(sql, pid);
        try {
            return call.make();
        } catch (SQLException e) {
            turnstile.failed(e);
            throw e;
        }
    }

    @FunctionalInterface
    private interface ConnectionCall {
        @Nullable
        Object make() throws Throwable;
    }

    private static String text(Object @Nullable [] arguments) {
        return arguments == null || arguments.length == 0 ? "" : String.valueOf(arguments[0]);
    }

    private static @Nullable Object call(@Nullable Object real, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
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
    public void setLogWriter(@Nullable PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
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
