package dev.semel.store.jdbc;

import dev.semel.store.StoreFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** A migrator of its own, because Semel is embedded next to users' own migration tools. */
public final class SchemaMigrations {
    /** The file names of all migrations, oldest first. */
    public static final List<String> ALL =
            List.of("V001__schema.sql", "V002__clock.sql", "V003__safe_resend.sql", "V004__unread_signals.sql");

    private static final String TABLE = """
        CREATE TABLE IF NOT EXISTS semel_migration (
            number integer NOT NULL PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, breaking integer NOT NULL)
        """;

    private SchemaMigrations() {}

    /**
     * @param paths of the migration resources, oldest first
     * @param existsQuery a query that returns a row if this store was migrated before
     * @param fencingStatements statements that fence off all workers; run before the first breaking migration
     */
    public record MigrationDialect(List<String> paths, String existsQuery, List<String> fencingStatements) {}

    public static List<String> pathsIn(String folder) {
        return ALL.stream().map(name -> folder + "/" + name).toList();
    }

    /** In the caller's transaction. The caller holds a lock against concurrent migrations. */
    public static void run(Connection connection, MigrationDialect dialect) throws SQLException {
        boolean fresh = !isKnown(connection, dialect);
        if (fresh) { // a database user without CREATE rights may use existing tables
            execute(connection, TABLE);
        }
        Map<Integer, AppliedMigration> applied = applied(connection);
        boolean others = !fresh;
        for (String path : dialect.paths()) {
            String name = path.substring(path.lastIndexOf('/') + 1);
            int number = number(name);
            String sql = resource(path);
            String checksum = checksum(sql);
            AppliedMigration before = applied.remove(number);
            if (before == null) {
                boolean breaking = sql.startsWith("-- breaking: yes");
                if (breaking && others) {
                    others = false;
                    for (String statement : dialect.fencingStatements()) {
                        execute(connection, statement);
                    }
                }
                apply(connection, sql);
                record(connection, new AppliedMigration(number, name, checksum, breaking));
            } else if (!before.checksum().equals(checksum)) {
                throw new StoreFailure.Unreachable(
                        "Migration " + name
                                + " differs from the migration that was applied to this store. Nothing was changed. "
                                + "Use the Semel version that created this store, or a new store.",
                        new IllegalStateException("checksum"));
            }
        }
        for (AppliedMigration newer : applied.values()) {
            if (newer.breaking()) {
                throw new StoreFailure.SchemaTooNew(newer.name());
            }
        }
    }

    public static int newestNumber() {
        return number(ALL.getLast());
    }

    private static int number(String name) {
        return Integer.parseInt(name.substring(1, 4));
    }

    private static boolean isKnown(Connection connection, MigrationDialect dialect) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery(dialect.existsQuery())) {
            return row.next();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static Map<Integer, AppliedMigration> applied(Connection connection) throws SQLException {
        Map<Integer, AppliedMigration> applied = new HashMap<>();
        try (Statement statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT number, name, checksum, breaking FROM semel_migration")) {
            while (rows.next()) {
                applied.put(
                        rows.getInt(1),
                        new AppliedMigration(
                                rows.getInt(1), rows.getString(2), rows.getString(3), rows.getInt(4) == 1));
            }
        }
        return applied;
    }

    private static void apply(Connection connection, String sql) throws SQLException {
        String statements = sql.replaceAll("(?m)^--.*$", "");
        try (Statement statement = connection.createStatement()) {
            for (String one : statements.split(";\\s*\n")) {
                if (!one.isBlank()) {
                    statement.execute(one);
                }
            }
        }
    }

    private static void record(Connection connection, AppliedMigration done) throws SQLException {
        try (var statement = connection.prepareStatement(
                "INSERT INTO semel_migration (number, name, checksum, breaking) VALUES (?, ?, ?, ?)")) {
            statement.setInt(1, done.number());
            statement.setString(2, done.name());
            statement.setString(3, done.checksum());
            statement.setInt(4, done.breaking() ? 1 : 0);
            statement.executeUpdate();
        }
    }

    private static String resource(String path) {
        try (InputStream in = SchemaMigrations.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("Migration " + path + " is missing in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("Migration " + path + " cannot be read", e);
        }
    }

    private static String checksum(String sql) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(sql.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private record AppliedMigration(int number, String name, String checksum, boolean breaking) {}
}
