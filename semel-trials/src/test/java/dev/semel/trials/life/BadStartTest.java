package dev.semel.trials.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreFailure;
import dev.semel.trials.support.Databases;
import dev.semel.trials.support.ServerProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A worker that cannot start says what failed, where, that nothing was changed, and what to do. */
@Tag("trial")
class BadStartTest {
    private static final String SECRET = "hunter2-Zq81";

    @TempDir
    Path folder;

    /** As a user with this name and a password that must come up nowhere. */
    private static String as(String user, String url) {
        return url.replaceAll("user=[^&]*", "user=" + user) + "&password=" + SECRET;
    }

    private static String refused(String url) {
        StoreFailure refusal =
                assertThrows(StoreFailure.class, () -> opened(url).close());
        StringBuilder all = new StringBuilder();
        for (Throwable cause = refusal; cause != null; cause = cause.getCause()) {
            all.append(cause.getMessage()).append('\n');
        }
        assertFalse(all.toString().contains(SECRET), "the password is shown: " + all);
        String message = String.valueOf(refusal.getMessage());
        assertTrue(message.contains("Nothing was changed. "), message);
        assertTrue(message.endsWith("."), "and then what to do: " + message);
        return message;
    }

    private static SemelRuntime opened(String url) {
        return SemelRuntime.open(RuntimeOptions.of(url, _ -> {
            throw new IllegalStateException("there are no workflows here");
        }));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        //[^/]*/   | //no-such-host.invalid/ | the host name cannot be resolved | Correct the host
        //[^/]*/   | //127.0.0.1:1/          | no server listens on that port | Correct host and port
        //[^/]*/   | //127.0.0.1:54x/        | not a PostgreSQL URL       | with a number as the port
        /semel_\\d+ | /semel_typo             | database "semel_typo" does not exist | CREATE DATABASE
        user=\\w+  | user=nobody_here        | does not allow user "nobody_here" to connect | that this role may log in
        """)
    void a_typo_in_the_url_is_named(String part, String typo, String what, String fix) {
        String url = Databases.fresh();
        String wrong = as("postgres", url).replaceFirst(part, typo);
        assertFalse(wrong.equals(as("postgres", url)), "the URL has no such part: " + url);
        String message = refused(wrong);
        assertTrue(message.contains(what) && message.contains(fix), message);
    }

    @Test
    void a_wrong_password_is_named_and_never_shown() throws Exception {
        String url = Databases.fresh();
        Databases.command("CREATE ROLE locked LOGIN PASSWORD 'right'");
        Path rules = Path.of(text(url, "SHOW hba_file"));
        Files.write(
                rules,
                List.of("host all locked 127.0.0.1/32 scram-sha-256", Files.readString(rules)),
                StandardOpenOption.TRUNCATE_EXISTING);
        Databases.command("SELECT pg_reload_conf()");
        String local = url.replace("localhost", "127.0.0.1");
        String message = refused(as("locked", local));
        assertTrue(message.contains("rejects user \"locked\" with this password"), message);
        message = refused(local.replaceAll("user=[^&]*", "user=locked"));
        assertTrue(message.contains("requires a password for user \"locked\", and the URL has none"), message);
    }

    @Test
    void a_database_user_without_rights_learns_the_missing_one_and_minimal_rights_suffice() throws SQLException {
        String url = Databases.fresh();
        Databases.command("CREATE ROLE poor LOGIN");
        String poor = as("poor", url);
        String message = refused(poor);
        assertTrue(message.contains("user \"poor\" lacks a privilege") && message.contains("schema public"), message);
        assertTrue(message.contains("GRANT USAGE, CREATE"), message);
        opened(url).close(); // the owner makes the tables
        message = refused(poor);
        assertTrue(message.contains("permission denied"), message);
        execute(url, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO poor");
        execute(url, "REVOKE INSERT ON semel_run FROM poor");
        message = refused(poor);
        assertTrue(message.contains("INSERT on semel_run"), message);
        execute(url, "GRANT INSERT ON semel_run TO poor");
        try (SemelRuntime semel = opened(poor)) {
            assertTrue(semel.isReady(), "rows are enough where the tables are there");
        }
        execute(url, "DELETE FROM semel_migration WHERE number = 1");
        message = refused(poor);
        assertTrue(message.contains("permission denied for schema public"), "a missing migration: " + message);
        assertTrue(
                message.contains("Start the first worker of a new version with the user that owns the tables"),
                message);
    }

    @Test
    void a_transaction_pooler_is_rejected_and_a_session_pooler_is_accepted() {
        String url = Databases.fresh();
        int port = Integer.parseInt(url.replaceAll(".*//[^/]*:(\\d+)/.*", "$1"));
        for (boolean keepsStatements : new boolean[] {true, false}) {
            try (TransactionPoolerStub pooler = new TransactionPoolerStub(port, keepsStatements)) {
                String message = refused(url.replaceFirst("//[^/]*/", "//127.0.0.1:" + pooler.port() + "/"));
                assertTrue(message.contains("shares sessions between transactions"), message);
                assertTrue(message.contains("pool_mode = session"), message);
            }
        }
        try (CountingProxy proxy = new CountingProxy(port);
                SemelRuntime semel = opened(url.replaceFirst("//[^/]*/", "//127.0.0.1:" + proxy.port() + "/"))) {
            assertTrue(semel.isReady());
        }
    }

    @Test
    void a_server_process_ends_with_one_line_of_instructions() throws Exception {
        assertEquals(
                List.of(
                        "semel: PostgreSQL at no-such-host.invalid:5432 cannot be used as the store: the host name"
                                + " cannot be resolved. Nothing was changed. Correct the host in the URL, or check the"
                                + " DNS server.",
                        "exit 1"),
                ServerProcess.refusal(folder, "jdbc:postgresql://no-such-host.invalid/semel?user=u", "serve"));
    }

    private static String text(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void execute(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
