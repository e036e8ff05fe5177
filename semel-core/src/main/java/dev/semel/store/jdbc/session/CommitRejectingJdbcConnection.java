package dev.semel.store.jdbc.session;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Dynamic proxies, because the JDBC interfaces have some sixty methods each and grow with every JDK. */
public final class CommitRejectingJdbcConnection {
    private static final Set<String> REJECTED = Set.of(
            "commit",
            "rollback",
            "close",
            "abort",
            "setAutoCommit",
            "setTransactionIsolation",
            "unwrap",
            "setReadOnly");

    private CommitRejectingJdbcConnection() {}

    public static Connection wrap(Connection real) {
        return proxy(Connection.class, (proxy, method, arguments) -> {
            boolean toSavepoint = method.getName().equals("rollback") && arguments != null;
            if (REJECTED.contains(method.getName()) && !toSavepoint) {
                if (method.getName().equals("close")) {
                    return null; // user code may use try-with-resources
                }
                throw rejection(method.getName() + "() on its connection");
            }
            rejectControl(arguments);
            Object result = call(real, method, arguments);
            return result instanceof Statement statement ? wrap(statement, (Connection) proxy) : result;
        });
    }

    private static Statement wrap(Statement real, Connection guarded) {
        Class<? extends Statement> kind = switch (real) {
            case CallableStatement _ -> CallableStatement.class;
            case PreparedStatement _ -> PreparedStatement.class;
            default -> Statement.class;
        };
        return proxy(kind, (_, method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                return guarded;
            }
            if (method.getName().equals("unwrap")) {
                throw rejection("unwrap() on a statement");
            }
            boolean executes =
                    method.getName().startsWith("execute") || method.getName().equals("addBatch");
            if (executes) {
                rejectControl(arguments);
            }
            return call(real, method, arguments);
        });
    }

    /** The first argument of every prepare or execute method is the SQL. */
    private static void rejectControl(Object @Nullable [] arguments) {
        if (arguments != null && arguments.length > 0 && arguments[0] instanceof String sql) {
            String word = SqlTransactionControlDetector.findIn(sql);
            if (word != null) {
                throw rejection("the statement " + word);
            }
        }
    }

    private static SemelException rejection(String what) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The code of a tx step called " + what
                        + ", which is not allowed there. Semel rejected the call and rolled back the database changes"
                        + " of this step.",
                "Remove the call: Semel itself commits the changes, together with the journal entry of the step. For"
                        + " session settings, use SET LOCAL.");
    }

    @FunctionalInterface
    private interface ProxyCall {
        @Nullable
        Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> kind, ProxyCall call) {
        return kind.cast(Proxy.newProxyInstance(
                CommitRejectingJdbcConnection.class.getClassLoader(), new Class<?>[] {kind}, call::invoke));
    }

    private static @Nullable Object call(Object real, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
