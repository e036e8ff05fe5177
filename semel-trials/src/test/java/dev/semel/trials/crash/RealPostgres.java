package dev.semel.trials.crash;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** One real PostgreSQL for all trials of this package, as durable as in production; a new database for each trial. */
final class RealPostgres {
    private static final AtomicInteger DATABASES = new AtomicInteger();

    /** Started by the first trial that asks. */
    private static final class Running {
        static final EmbeddedPostgres SERVER = start();
    }

    private static EmbeddedPostgres start() {
        try {
            // The embedded server is made for speed: it would neither sync nor wait for the WAL.
            return EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("full_page_writes", "on")
                    .setServerConfig("wal_sync_method", "fdatasync")
                    .start();
        } catch (IOException e) {
            throw new AssertionError("the PostgreSQL for tests did not start", e);
        }
    }

    static int port() {
        return Running.SERVER.getPort();
    }

    /** Makes a database and answers its name. */
    static String newDatabase() {
        String name = "crash_" + DATABASES.incrementAndGet();
        execute(url("postgres"), "CREATE DATABASE " + name);
        return name;
    }

    static String url(String database) {
        return url(database, port());
    }

    /** The same database through another port, where a proxy listens. */
    static String url(String database, int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=postgres&sslmode=disable";
    }

    static void execute(String url, String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    static long number(String url, String sql) {
        return Long.parseLong(text(url, sql));
    }

    /** The one value that a query answers. */
    static String text(String url, String sql) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    /** How often each value of a column is there. */
    static Map<String, Long> counts(String url, String table, String column) {
        String sql = "SELECT " + column + ", count(*) FROM " + table + " GROUP BY 1";
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            Map<String, Long> counts = new HashMap<>();
            while (row.next()) {
                counts.put(row.getString(1), row.getLong(2));
            }
            return counts;
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    private RealPostgres() {}
}
