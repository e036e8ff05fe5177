package dev.semel.store.postgres;

import dev.semel.run.RunId;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/** Each array parameter has one value per row, bound in order. The PostgreSQL driver sends these types in binary. */
final class ArrayStatement<R> {
    private final PGConnection connection;
    private final PreparedStatement statement;
    private final Collection<R> rows;
    private int at = 1;

    ArrayStatement(JdbcSession session, String sql, Collection<R> rows) throws SQLException {
        this.connection = session.connection().unwrap(PGConnection.class);
        this.statement = session.prepare(sql);
        this.rows = rows;
    }

    /** A statement whose first parameter is an array of runs. */
    static ArrayStatement<RunId> ofRuns(JdbcSession session, String sql, Collection<RunId> runs) throws SQLException {
        return new ArrayStatement<>(session, sql, runs).ids(run -> run);
    }

    /** The position of each row, from 0. */
    ArrayStatement<R> positions() throws SQLException {
        return array("int4", IntStream.range(0, rows.size()).toArray());
    }

    ArrayStatement<R> ints(ToIntFunction<R> column) throws SQLException {
        return array("int4", rows.stream().mapToInt(column).toArray());
    }

    ArrayStatement<R> longs(ToLongFunction<R> column) throws SQLException {
        return array("int8", rows.stream().mapToLong(column).toArray());
    }

    ArrayStatement<R> texts(Function<R, @Nullable String> column) throws SQLException {
        String[] texts = rows.stream().map(column::apply).toArray(String[]::new);
        JdbcSession.rejectUnstorable((Object[]) texts);
        return array("text", texts);
    }

    ArrayStatement<R> bytes(Function<R, byte[]> column) throws SQLException {
        return array("bytea", rows.stream().map(column).toArray(byte[][]::new));
    }

    ArrayStatement<R> ids(Function<R, @Nullable RunId> column) throws SQLException {
        return array("bytea", rows.stream().map(row -> bytes(column.apply(row))).toArray(byte[][]::new));
    }

    private static byte @Nullable [] bytes(@Nullable RunId run) {
        return run == null ? null : run.bytes();
    }

    private ArrayStatement<R> array(String type, Object values) throws SQLException {
        statement.setArray(at++, connection.createArrayOf(type, values));
        return this;
    }

    /** An array of its own length. */
    ArrayStatement<R> array(Collection<RunId> runs) throws SQLException {
        return array("bytea", runs.stream().map(RunId::bytes).toArray(byte[][]::new));
    }

    ArrayStatement<R> value(long value) throws SQLException {
        statement.setLong(at++, value);
        return this;
    }

    ArrayStatement<R> nullableValue(@Nullable Long value) throws SQLException {
        if (value == null) {
            statement.setNull(at++, java.sql.Types.BIGINT);
            return this;
        }
        return value(value);
    }

    void update() throws SQLException {
        statement.executeUpdate();
    }

    <T> List<T> list(JdbcSession.RowReader<T> reader) throws SQLException {
        List<T> found = new ArrayList<>();
        forEach(row -> found.add(reader.read(row)));
        return found;
    }

    void forEach(RowAction action) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                action.accept(row);
            }
        }
    }

    @FunctionalInterface
    interface RowAction {
        void accept(ResultSet row) throws SQLException;
    }

    /** Reads the run ids in the first column of the result. */
    Set<RunId> runIds() throws SQLException {
        return new HashSet<>(list(row -> RunId.of(row.getBytes(1))));
    }
}
