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

/**
 * Why a database cannot be used as the store, for whoever starts a worker: what failed, where, that nothing was changed,
 * and what to do. A password never gets here: texts are our own, and of the URL only host, database and user are shown.
 */
final class Troubles {
    private static final String NOTHING = " Nothing was changed. ";
    private static final int DEEPEST_CAUSE = 10;

    private final String server;
    private final String database;
    private final String user;

    private Troubles(String server, String database, String user) {
        this.server = server;
        this.database = database;
        this.user = user;
    }

    /** Of a data source we know nothing that could be shown. */
    static Troubles ofDataSource() {
        return new Troubles("the data source", "the database", "its user");
    }

    static Troubles of(String url) {
        Properties parsed = Driver.parseURL(url, new Properties());
        if (parsed == null || parsed.getProperty("PGHOST") == null) {
            throw new StoreFailure.Down(
                    "The store URL is not one of PostgreSQL." + NOTHING
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
        return new Troubles(
                "PostgreSQL at " + server,
                "\"" + parsed.getProperty("PGDBNAME", "") + "\"",
                user == null ? "that the URL does not name" : "\"" + user + "\"");
    }

    private record Trouble(String what, String fix) {}

    /** The worker does not start; this is what is printed. */
    StoreFailure.Down opening(SQLException e) {
        Trouble trouble = trouble(e);
        return new StoreFailure.Down(
                server + " cannot be used as the store: " + trouble.what() + "." + NOTHING + trouble.fix(), e);
    }

    private Trouble trouble(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return switch (state) {
            case "08001", "08003", "08006" -> unreachable(e);
            case "08004" ->
                new Trouble(
                        "it asks user " + user + " for a password, and the URL has none",
                        "Add &password=… to the URL in SEMEL_STORE.");
            case "28P01" ->
                new Trouble(
                        "it does not know user " + user + " with this password",
                        "Correct user and password in SEMEL_STORE; the password is in no message.");
            case "28000" ->
                new Trouble(
                        "it does not let user " + user + " in to database " + database + " from here",
                        "Check the user in the URL, that the role exists and may log in, and pg_hba.conf.");
            case "3D000" ->
                new Trouble(
                        "it has no database " + database,
                        "Correct the name in the URL, or create it: CREATE DATABASE name OWNER user.");
            case "3F000" ->
                new Trouble(
                        "user " + user + " has no schema to make tables in",
                        "Create the schema, or name one that exists with ?currentSchema=… in the URL.");
            case "42501" ->
                new Trouble(
                        "user " + user + " may not do what the store needs (" + firstLine(e) + ")",
                        "Let the owner of the tables start the first worker of a version, or GRANT USAGE, CREATE ON"
                                + " SCHEMA to this user.");
            case "25006" ->
                new Trouble(
                        "it takes no writes: it is a standby, or default_transaction_read_only is on",
                        "Name the primary, or all hosts: jdbc:postgresql://a,b/database.");
            case "53300" ->
                new Trouble(
                        "it has no connection left",
                        "Raise max_connections, or start fewer workers; each keeps about a dozen.");
            case "57P03" -> new Trouble("it is starting or stopping", "Start this worker again in a moment.");
            case "55P03" ->
                new Trouble(
                        "its tables are in use by a transaction that does not end, or by another worker that migrates",
                        "Look at pg_stat_activity for what is open, end it, and start this worker again.");
            default -> new Trouble(firstLine(e) + " (" + state + ")", "Look into the log of the database.");
        };
    }

    private Trouble unreachable(SQLException e) {
        Throwable cause = e;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            Trouble known = network(cause);
            if (known != null) {
                return known;
            }
        }
        if (String.valueOf(e.getMessage()).contains("targetServerType")) {
            return new Trouble(
                    "none of the hosts is a primary that takes writes",
                    "Name the primary, or all hosts, and start this worker again when one of them is promoted.");
        }
        return new Trouble("the connection was cut", "Start this worker again; if it stays so, look at the network.");
    }

    private static @Nullable Trouble network(Throwable cause) {
        return switch (cause) {
            case UnknownHostException _ ->
                new Trouble("no such host name is known", "Correct the host in the URL, or look at the name server.");
            case ConnectException _ ->
                new Trouble(
                        "nothing listens there",
                        "Correct host and port in the URL, start the server, and let it listen on that address.");
            case NoRouteToHostException _, SocketTimeoutException _ ->
                new Trouble(
                        "it does not answer",
                        "Correct host and port in the URL, and look whether a firewall stands between.");
            default -> null;
        };
    }

    /** The server's own words; they name tables and roles, and neither a payload nor a password. */
    private static String firstLine(SQLException e) {
        String text = String.valueOf(e.getMessage());
        int end = text.indexOf('\n');
        return (end < 0 ? text : text.substring(0, end)).replaceFirst("^(ERROR|FATAL): ", "");
    }
}
