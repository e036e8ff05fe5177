package dev.semel.store.jdbc.session;

import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A JDBC connection that caches its prepared statements. One thread uses it at a time. */
public final class JdbcSession implements AutoCloseable {
    private static final String CHARACTER_NOT_IN_REPERTOIRE = "22021";
    private static final int SQLITE_MISMATCH = 20;

    private Connection connection;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    public JdbcSession(Connection connection) {
        this.connection = connection;
    }

    public Connection connection() {
        return connection;
    }

    /** Switches to another connection and drops the statements that the old one prepared. */
    public void replaceConnection(Connection fresh) {
        prepared.clear();
        connection = fresh;
    }

    public PreparedStatement prepare(String sql) throws SQLException {
        PreparedStatement cached = prepared.get(sql);
        if (cached == null) {
            cached = connection.prepareStatement(sql);
            prepared.put(sql, cached);
        }
        return cached;
    }

    public <T> List<T> queryList(String sql, RowReader<T> reader, @Nullable Object... values) throws SQLException {
        PreparedStatement statement = bound(sql, values);
        List<T> rows = new ArrayList<>();
        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                rows.add(reader.read(result));
            }
        }
        return rows;
    }

    public <T> @Nullable T queryOne(String sql, RowReader<T> reader, @Nullable Object... values) throws SQLException {
        PreparedStatement statement = bound(sql, values);
        try (ResultSet result = statement.executeQuery()) {
            return result.next() ? reader.read(result) : null;
        }
    }

    public boolean exists(String sql, @Nullable Object... values) throws SQLException {
        try (ResultSet result = bound(sql, values).executeQuery()) {
            return result.next();
        }
    }

    /** Returns the number of changed rows. */
    public int update(String sql, @Nullable Object... values) throws SQLException {
        return bound(sql, values).executeUpdate();
    }

    /** Returns the number of rows that each one changed. */
    public int[] updateBatch(String sql, List<@Nullable Object[]> rows) throws SQLException {
        PreparedStatement statement = prepare(sql);
        for (@Nullable Object[] row : rows) {
            rejectUnstorable(row);
            for (int i = 0; i < row.length; i++) {
                bind(statement, i + 1, row[i]);
            }
            statement.addBatch();
        }
        return rows.isEmpty() ? new int[0] : statement.executeBatch();
    }

    /** SQLite would accept what PostgreSQL rejects. Each store takes one of the two codes as a rejected value. */
    public static void rejectUnstorable(@Nullable Object... values) throws SQLException {
        for (Object value : values) {
            if (value instanceof String text && !StorableText.isStorable(text)) {
                throw new SQLException(
                        "a text contains a NUL character or an unpaired surrogate",
                        CHARACTER_NOT_IN_REPERTOIRE,
                        SQLITE_MISMATCH);
            }
        }
    }

    private PreparedStatement bound(String sql, @Nullable Object... values) throws SQLException {
        rejectUnstorable(values);
        PreparedStatement statement = prepare(sql);
        for (int i = 0; i < values.length; i++) {
            bind(statement, i + 1, values[i]);
        }
        return statement;
    }

    private static void bind(PreparedStatement statement, int at, @Nullable Object value) throws SQLException {
        switch (value) {
            case null -> statement.setNull(at, java.sql.Types.NULL);
            case Long number -> statement.setLong(at, number);
            case Integer number -> statement.setInt(at, number);
            case String text -> statement.setString(at, text);
            case byte[] bytes -> statement.setBytes(at, bytes);
            case RunId id -> statement.setBytes(at, id.bytes());
            default -> throw new IllegalArgumentException("no binding for " + value.getClass());
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    @FunctionalInterface
    public interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }
}
