package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Set;

/**
 * The connection that the code of a `tx` step sees: everything but the end of the transaction, which is ours. A proxy,
 * because the interface has some sixty methods and grows with every JDK.
 */
final class GuardedConnection {
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

    static Connection around(Connection real) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (_, method, arguments) -> {
                    boolean toSavepoint = method.getName().equals("rollback") && arguments != null;
                    if (REFUSED.contains(method.getName()) && !toSavepoint) {
                        if (method.getName().equals("close")) {
                            return null; // try-with-resources around it does no harm
                        }
                        throw new SemelException(
                                ErrorCode.INVALID_DEFINITION,
                                "The code of a tx step called " + method.getName()
                                        + "() on its connection. Its rows were undone.",
                                "Leave the end of the transaction to Semel: it commits the rows with its record.");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }
}
