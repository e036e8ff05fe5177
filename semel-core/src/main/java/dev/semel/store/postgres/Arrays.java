package dev.semel.store.postgres;

import dev.semel.store.jdbc.Session;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Binds array parameters of a statement in order. The PostgreSQL driver sends these types in binary. */
final class Arrays {
    private final PGConnection connection;
    private final PreparedStatement statement;
    private int at = 1;

    Arrays(Session session, PreparedStatement statement) throws SQLException {
        this.connection = session.connection().unwrap(PGConnection.class);
        this.statement = statement;
    }

    Arrays ints(int[] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("int4", values));
        return this;
    }

    Arrays longs(long[] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("int8", values));
        return this;
    }

    Arrays texts(@Nullable String[] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("text", values));
        return this;
    }

    Arrays bytes(byte[][] values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf("bytea", values));
        return this;
    }

    Arrays one(long value) throws SQLException {
        statement.setLong(at++, value);
        return this;
    }

    Arrays oneOrNull(@Nullable Long value) throws SQLException {
        if (value == null) {
            statement.setNull(at++, java.sql.Types.BIGINT);
        } else {
            statement.setLong(at++, value);
        }
        return this;
    }
}
