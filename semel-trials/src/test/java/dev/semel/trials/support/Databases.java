package dev.semel.trials.support;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One real PostgreSQL for the whole JVM, started by the first who asks; a database of its own for each who asks. */
public final class Databases {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static @Nullable EmbeddedPostgres server;

    private Databases() {}

    /** The URL of a new, empty database. */
    public static String fresh() {
        String name = "semel_" + NUMBER.incrementAndGet();
        command("CREATE DATABASE " + name);
        return started().getJdbcUrl("postgres", name);
    }

    /** The URL of a new database with all that is in that one; nobody may be connected to it. */
    public static String copy(String url) {
        String path = url.substring(0, url.indexOf('?') < 0 ? url.length() : url.indexOf('?'));
        String name = "semel_" + NUMBER.incrementAndGet();
        command("CREATE DATABASE " + name + " TEMPLATE " + path.substring(path.lastIndexOf('/') + 1));
        return started().getJdbcUrl("postgres", name);
    }

    /** Runs a statement about databases, not inside one. */
    public static void command(String sql) {
        try (Connection connection = DriverManager.getConnection(started().getJdbcUrl("postgres", "postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL refused: " + sql, e);
        }
    }

    private static synchronized EmbeddedPostgres started() {
        EmbeddedPostgres known = server;
        if (known == null) {
            try {
                known = EmbeddedPostgres.builder()
                        .setServerConfig("max_connections", "300")
                        .start();
            } catch (IOException e) {
                throw new IllegalStateException("the PostgreSQL for tests did not start", e);
            }
            server = known;
        }
        return known;
    }
}
