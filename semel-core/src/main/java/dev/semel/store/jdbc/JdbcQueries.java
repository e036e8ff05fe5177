package dev.semel.store.jdbc;

import dev.semel.store.StoreFailure;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs read queries on one session. A failed query means that the store is unreachable. */
abstract class JdbcQueries {
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
            throw new StoreFailure.Unreachable("The store did not answer a query", e);
        }
    }

    protected <T> @Nullable T queryNullable(NullableSqlQuery<T> question) {
        try {
            return question.run();
        } catch (SQLException e) {
            throw new StoreFailure.Unreachable("The store did not answer a query", e);
        }
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
