package dev.semel.store.jdbc;

import dev.semel.store.StoreFailure;
import dev.semel.store.jdbc.session.JdbcSession;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs read queries on one session. A query fails if the store is unreachable or rejects a value. */
abstract class JdbcQueries {
    private static final String BAD_VALUE = "22"; // the SQLSTATE class of data exceptions

    protected final JdbcSession session;

    JdbcQueries(JdbcSession session) {
        this.session = session;
    }

    protected <T> List<T> list(String sql, JdbcSession.RowReader<T> reader, @Nullable Object... values) {
        return query(() -> session.queryList(sql, reader, values));
    }

    protected <T> @Nullable T one(String sql, JdbcSession.RowReader<T> reader, @Nullable Object... values) {
        return queryNullable(() -> session.queryOne(sql, reader, values));
    }

    protected boolean exists(String sql, @Nullable Object... values) {
        return query(() -> session.exists(sql, values));
    }

    protected <T> T query(SqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    protected <T> @Nullable T queryNullable(NullableSqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** A value that no row can have is a mistake of the caller; a retry does not help. */
    private static StoreFailure failure(SQLException e) {
        return e.getSQLState() != null && e.getSQLState().startsWith(BAD_VALUE)
                ? new StoreFailure.ValueRejected("The store rejected a value of a query", e)
                : new StoreFailure.Unreachable("The store did not answer a query", e);
    }

    @FunctionalInterface
    protected interface SqlQuery<T> {
        T run() throws SQLException;
    }

    @FunctionalInterface
    protected interface NullableSqlQuery<T> {
        @Nullable
        T run() throws SQLException;
    }
}
