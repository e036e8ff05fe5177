package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Semel;
import dev.semel.error.StepFailed;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Workflow;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What the code of a tx step can do to its session on PostgreSQL. The step fails, and no run is tried for ever. */
final class PostgresTxCodeTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final AtomicInteger tries = new AtomicInteger();
    private SemelRuntime semel;

    @BeforeEach
    void open() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(fixture.url());
        semel = (SemelRuntime) Semel.postgres(source).open();
    }

    @AfterEach
    void close() {
        semel.close();
    }

    /** A step that does this, twice at most, and then one that asks whether anything came of it. */
    private Workflow<String, Integer> flow(String name, String... statements) {
        return Workflow.define(name, String.class, Integer.class).body((ctx, _) -> {
            return ctx.step("rows")
                    .retry(Retry.exponential(Duration.ofMillis(10)).upTo(2))
                    .tx(Integer.class, (sql, _) -> {
                        tries.incrementAndGet();
                        try (Statement statement = sql.createStatement()) {
                            for (String one : statements) {
                                statement.execute(one);
                            }
                        }
                        return 1;
                    });
        });
    }

    private StepFailed failed(Workflow<String, Integer> flow) {
        semel.register(flow);
        return assertThrows(StepFailed.class, () -> semel.start(flow, "x").result(SOON));
    }

    @Test
    void a_constraint_that_fails_at_commit_fails_the_step() {
        Workflow<String, Integer> made = flow("made", "CREATE TABLE stock (n INTEGER)", """
            CREATE FUNCTION no_stock() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION 'no stock left'; END $$
            """, """
            CREATE CONSTRAINT TRIGGER checked AFTER INSERT ON stock DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION no_stock()
            """);
        semel.register(made);
        assertEquals(1, semel.start(made, "x").result(SOON));
        tries.set(0);
        String reported = failed(flow("taken", "INSERT INTO stock VALUES (1)")).detail();
        assertTrue(reported.contains("SQL state P0001"), reported);
        assertEquals(2, tries.get());
    }

    @Test
    void a_session_that_cannot_write_the_record_fails_the_step() {
        String reported =
                failed(flow("astray", "SET LOCAL search_path TO pg_catalog")).detail();
        assertTrue(reported.contains("changed the session"), reported);
        failed(flow("read_only", "SET LOCAL transaction_read_only = on"));
        assertEquals(2, tries.get(), "another try would end like the first");
    }

    /** A sequence counts on although its transaction is undone: it tells whether the statement came to its end. */
    @Test
    void a_statement_over_the_step_timeout_is_ended_by_the_server() {
        Workflow<String, Integer> made = flow("made", "CREATE SEQUENCE passed");
        semel.register(made);
        assertEquals(1, semel.start(made, "x").result(SOON));
        Workflow<String, Integer> slow = Workflow.define("slow", String.class, Integer.class)
                .body((ctx, _) -> ctx.step("rows")
                        .timeout(Duration.ofMillis(100))
                        .retry(Retry.exponential(Duration.ofMillis(10)).upTo(2))
                        .tx(Integer.class, (sql, _) -> {
                            tries.incrementAndGet();
                            try (Statement statement = sql.createStatement()) {
                                statement.execute("SELECT nextval('passed') FROM (SELECT pg_sleep(3) OFFSET 0) slept");
                            }
                            return 1;
                        }));
        tries.set(0);
        String reported = failed(slow).detail();
        assertTrue(reported.contains("took longer than PT0.1S"), reported);
        assertEquals(2, tries.get());
        Workflow<String, String> workflow = Workflow.define("asked", String.class, String.class)
                .body((ctx, _) -> ctx.step("look").tx(String.class, (sql, _) -> {
                    try (Statement statement = sql.createStatement();
                            var row = statement.executeQuery("SELECT (SELECT is_called FROM passed) || ' ' ||"
                                    + " current_setting('statement_timeout')")) {
                        row.next();
                        return row.getString(1);
                    }
                }));
        semel.register(workflow);
        assertEquals("false 30s", semel.start(workflow, "x").result(SOON), "and the next step has its usual time");
    }

    @Test
    void a_session_setting_that_would_outlive_the_step_is_rejected() {
        String reported = failed(flow("leaks", "SET search_path TO pg_catalog")).detail();
        assertTrue(reported.contains("SET"), reported);
        Workflow<String, Integer> fine =
                flow("fine", "SET LOCAL work_mem = '8MB'", "SET CONSTRAINTS ALL DEFERRED", "CREATE TABLE mine (n INT)");
        semel.register(fine);
        assertEquals(1, semel.start(fine, "x").result(SOON));
    }
}
