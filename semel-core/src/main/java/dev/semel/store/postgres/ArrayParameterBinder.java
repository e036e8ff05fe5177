package dev.semel.store.postgres;

import dev.semel.store.jdbc.JdbcSession;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Binds array parameters of a statement in order. The PostgreSQL driver sends these types in binary. */
final class ArrayParameterBinder {
    private final PGConnection connection;
    private final PreparedStatement statement;
    private int at = 1;

    ArrayParameterBinder(JdbcSession session, PreparedStatement statement) throws SQLException {
        this.connection = session.connection().unwrap(PGConnection.class);
        this.statement = statement;
    }

    ArrayParameterBinder ints(int[] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("int4", values));
        return this;
    }

    ArrayParameterBinder longs(long[] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("int8", values));
        return this;
    }

    ArrayParameterBinder texts(@Nullable String[] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("text", values));
        return this;
    }

    ArrayParameterBinder bytes(byte[][] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("bytea", values));
        return this;
    }

    ArrayParameterBinder value(long value) throws SQLException {
        statement.setLong(at++, value);
        return this;
    }

    ArrayParameterBinder nullableValue(@Nullable Long value) throws SQLException {
        if (value == null) {
            statement.setNull(at++, java.sql.Types.BIGINT);
        } else {
            statement.setLong(at++, value);
        }
        return this;
    }
}
