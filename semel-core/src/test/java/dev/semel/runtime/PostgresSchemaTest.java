package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Semel;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Semel's tables in a schema of their own, beside the tables of the application. */
final class PostgresSchemaTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String SCHEMA = "Semel's \"own\"";

    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
            .body((ctx, in) -> {
                ctx.tx("rows", (sql, _) -> {
                    try (Statement insert = sql.createStatement()) {
                        insert.execute("INSERT INTO booking VALUES ('" + in + "')");
                    }
                });
                return in;
            });

    @BeforeEach
    void table() throws SQLException {
        try (Connection connection = DriverManager.getConnection(fixture.url());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE booking (id text)");
        }
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Semel open(String schema) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(fixture.url());
        return Semel.postgres(source).schema(schema).open().register(flow);
    }

    private String text(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(fixture.url());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            assertTrue(row.next());
            return row.getString(1);
        }
    }

    @Test
    void the_tables_are_in_that_schema_and_tx_steps_find_the_tables_of_the_application() throws SQLException {
        String runId;
        try (Semel semel = open(SCHEMA)) {
            var run = semel.start(flow, "a", Start.withKey("k"));
            runId = run.id();
            assertEquals("a", run.result(SOON));
        }
        String schemas = "SELECT string_agg(schemaname, ',') FROM pg_tables WHERE tablename = 'semel_run'"
                + " AND schemaname IN (current_schema(), '" + SCHEMA.replace("'", "''") + "')";
        assertEquals(SCHEMA, text(schemas));
        try (Semel semel = open(SCHEMA)) {
            var again = semel.start(flow, "a", Start.withKey("k"));
            assertEquals(runId, again.id());
            assertTrue(again.replayed());
        }
        assertEquals("1", text("SELECT count(*) FROM booking"));
    }

    @Test
    void two_schemas_of_one_database_are_two_stores() throws SQLException {
        try (Semel one = open("one");
                Semel two = open("two")) {
            var first = one.start(flow, "a", Start.withKey("k"));
            var second = two.start(flow, "a", Start.withKey("k"));
            assertEquals("aa", first.result(SOON) + second.result(SOON));
            assertEquals(false, second.replayed());
        }
        assertEquals("2", text("SELECT count(*) FROM booking"));
    }

    @Test
    void sqlite_has_no_schema() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Semel.sqlite(Path.of("x.db")).schema("semel"));
    }
}
