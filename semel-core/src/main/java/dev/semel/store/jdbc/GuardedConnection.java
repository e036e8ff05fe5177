package dev.semel.store.jdbc;

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

/**
 * The connection that the code of a `tx` step sees: everything but the end of the transaction, which is ours. Proxies,
 * because the interfaces have some sixty methods each and grow with every JDK.
 */
public final class GuardedConnection {
    private static final Set<String> REFUSED = Set.of(
            "commit",
            "rollback",
            "close",
            "abort",
            "setAutoCommit",
            "setTransactionIsolation",
            "unwrap",
            "setReadOnly");

    private GuardedConnection() {}

    public static Connection around(Connection real) {
        return proxy(Connection.class, (proxy, method, arguments) -> {
            boolean toSavepoint = method.getName().equals("rollback") && arguments != null;
            if (REFUSED.contains(method.getName()) && !toSavepoint) {
                if (method.getName().equals("close")) {
                    return null; // try-with-resources around it does no harm
                }
                throw refused(method.getName() + "() on its connection");
            }
            refuseControl(arguments);
            Object answer = call(real, method, arguments);
            return answer instanceof Statement statement ? around(statement, (Connection) proxy) : answer;
        });
    }

    private static Statement around(Statement real, Connection guarded) {
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
                throw refused("unwrap() on a statement");
            }
            boolean executes =
                    method.getName().startsWith("execute") || method.getName().equals("addBatch");
            if (executes) {
                refuseControl(arguments);
            }
            return call(real, method, arguments);
        });
    }

    /** The first argument of what prepares or executes is the SQL. */
    private static void refuseControl(Object @Nullable [] arguments) {
        if (arguments != null && arguments.length > 0 && arguments[0] instanceof String sql) {
            String word = TransactionWords.in(sql);
            if (word != null) {
                throw refused("the statement " + word);
            }
        }
    }

    private static SemelException refused(String what) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The code of a tx step used " + what + ". That was not done, and its rows were undone.",
                "Leave the beginning and the end of the transaction to Semel: it commits the rows with its record."
                        + " What the code sets it sets with SET LOCAL.");
    }

    @FunctionalInterface
    private interface Answering {
        @Nullable
        Object answer(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> kind, Answering answering) {
        return kind.cast(Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(), new Class<?>[] {kind}, answering::answer));
    }

    private static @Nullable Object call(Object real, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
