package dev.semel.store.postgres;

import dev.semel.store.StoreFailure;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;

/** Messages show host, database and user of the URL, never the password. */
final class PostgresConnectionErrorMessages {
    private static final String NOTHING = " Nothing was changed. ";
    private static final int DEEPEST_CAUSE = 10;

    private final String server;
    private final String database;
    private final String user;

    private PostgresConnectionErrorMessages(String server, String database, String user) {
        this.server = server;
        this.database = database;
        this.user = user;
    }

    /** For a data source, whose host, database and user are unknown. */
    static PostgresConnectionErrorMessages ofDataSource() {
        return new PostgresConnectionErrorMessages("the data source", "the database", "its user");
    }

    static PostgresConnectionErrorMessages of(String url) {
        Properties parsed = Driver.parseURL(url, new Properties());
        if (parsed == null || parsed.getProperty("PGHOST") == null) {
            throw new StoreFailure.Unreachable(
                    "The store URL is not a PostgreSQL URL." + NOTHING
                            + "Write jdbc:postgresql://HOST:PORT/DATABASE?user=USER&password=…, with a number as the"
                            + " port, and %-escapes for special characters.",
                    new IllegalArgumentException("URL"));
        }
        StringBuilder server = new StringBuilder();
        String[] hosts = parsed.getProperty("PGHOST").split(",");
        String[] ports = parsed.getProperty("PGPORT", "5432").split(",");
        for (int i = 0; i < hosts.length; i++) {
            server.append(i == 0 ? "" : ",").append(hosts[i]).append(':').append(ports[Math.min(i, ports.length - 1)]);
        }
        String user = parsed.getProperty("user");
        return new PostgresConnectionErrorMessages(
                "PostgreSQL at " + server,
                "\"" + parsed.getProperty("PGDBNAME", "") + "\"",
                user == null ? "(none in the URL)" : "\"" + user + "\"");
    }

    private record ConnectionError(String what, String fix) {}

    /** Returns the failure that a worker prints when it cannot start. */
    StoreFailure.Unreachable startFailure(SQLException e) {
        ConnectionError trouble = trouble(e);
        return new StoreFailure.Unreachable(
                server + " cannot be used as the store: " + trouble.what() + "." + NOTHING + trouble.fix(), e);
    }

    private ConnectionError trouble(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return switch (state) {
            case "08001", "08003", "08006" -> unreachable(e);
            case "08004" ->
                new ConnectionError(
                        "it requires a password for user " + user + ", and the URL has none",
                        "Add &password=… to the URL in SEMEL_STORE.");
            case "28P01" ->
                new ConnectionError(
                        "it rejects user " + user + " with this password", "Correct user and password in SEMEL_STORE.");
            case "28000" ->
                new ConnectionError(
                        "it does not allow user " + user + " to connect to database " + database + " from this host",
                        "Check that the URL names the right user, that this role may log in, and that pg_hba.conf"
                                + " allows the connection.");
            case "3D000" ->
                new ConnectionError(
                        "database " + database + " does not exist",
                        "Correct the name in the URL, or create the database: CREATE DATABASE name OWNER user.");
            case "3F000" ->
                new ConnectionError(
                        "user " + user + " has no schema to create tables in",
                        "Create the schema, or name one that exists with ?currentSchema=… in the URL.");
            case "42501" ->
                new ConnectionError(
                        "user " + user + " lacks a privilege that the store needs (" + firstLine(e) + ")",
                        "Start the first worker of a new version with the user that owns the tables, or GRANT USAGE,"
                                + " CREATE ON SCHEMA to this user.");
            case "25006" ->
                new ConnectionError(
                        "it is read-only: a standby, or default_transaction_read_only is on",
                        "Use the primary's host in the URL, or all hosts: jdbc:postgresql://a,b/database.");
            case "53300" ->
                new ConnectionError(
                        "all of its connections are in use",
                        "Raise max_connections, or start fewer workers; each uses about 12 connections.");
            case "57P03" -> new ConnectionError("it is starting or stopping", "Start this worker again in a moment.");
            case "55P03" ->
                new ConnectionError(
                        "its tables are locked by a long transaction, or by another worker that migrates the schema",
                        "Find the open transaction in pg_stat_activity, end it, and start this worker again.");
            default -> new ConnectionError(firstLine(e) + " (" + state + ")", "See the log of the database server.");
        };
    }

    private ConnectionError unreachable(SQLException e) {
        Throwable cause = e;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            ConnectionError connectionError = network(cause);
            if (connectionError != null) {
                return connectionError;
            }
        }
        if (String.valueOf(e.getMessage()).contains("targetServerType")) {
            return new ConnectionError(
                    "none of the hosts is a writable primary",
                    "Use the primary's host or all hosts in the URL. Start this worker again after a promotion.");
        }
        return new ConnectionError("the connection was lost", "Start this worker again, and check the network.");
    }

    private static @Nullable ConnectionError network(Throwable cause) {
        return switch (cause) {
            case UnknownHostException _ ->
                new ConnectionError(
                        "the host name cannot be resolved", "Correct the host in the URL, or check the DNS server.");
            case ConnectException _ ->
                new ConnectionError(
                        "the connection was refused; no server listens on that port",
                        "Correct host and port in the URL, or start the server and let it listen on that address.");
            case NoRouteToHostException _, SocketTimeoutException _ ->
                new ConnectionError("it does not respond", "Correct host and port in the URL, and check the firewall.");
            default -> null;
        };
    }

    /** Returns the first line of the server's message; it contains table and role names, no payload and no password. */
    private static String firstLine(SQLException e) {
        String text = String.valueOf(e.getMessage());
        int end = text.indexOf('\n');
        return (end < 0 ? text : text.substring(0, end)).replaceFirst("^(ERROR|FATAL): ", "");
    }
}
