package dev.semel.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFailure;
import dev.semel.store.jdbc.session.SchemaMigrations;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workers of several versions on one PostgreSQL, which one of them migrates. */
final class UpgradeTest {
    private static final String ADDITIVE = "/dev/semel/store/future/V900__additive.sql";
    private static final String BREAKING = "/dev/semel/store/future/V901__breaking.sql";
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final AtomicLong ids = new AtomicLong();

    @AfterEach
    void close() {
        fixture.close();
    }

    private static final Workflow<String, String> ECHO = Workflow.define("echo", String.class, String.class)
            .body((ctx, text) -> ctx.step("say", String.class, _ -> text));

    private SemelRuntime worker(Workflow<?, ?>... workflows) {
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        return SemelRuntime.open(RuntimeOptions.of(fixture.url(), none)).register(workflows);
    }

    private PostgresStore store() {
        return new PostgresStore(fixture.url(), () -> 0, () -> new RunId(ids.incrementAndGet(), 1));
    }

    /** What a newer version does when it starts. */
    private void upgrade(String... newer) throws SQLException {
        List<String> paths = new ArrayList<>(PostgresStore.MIGRATIONS.paths());
        paths.addAll(List.of(newer));
        try (Connection connection = fixture.jdbc()) {
            connection.setAutoCommit(false);
            SchemaMigrations.run(
                    connection,
                    new SchemaMigrations.MigrationDialect(
                            paths,
                            PostgresStore.MIGRATIONS.existsQuery(),
                            PostgresStore.MIGRATIONS.fencingStatements()));
            connection.commit();
        }
    }

    @Test
    void an_older_worker_continues_under_a_newer_compatible_schema() throws SQLException {
        try (SemelRuntime older = worker(ECHO)) {
            upgrade(ADDITIVE);
            assertEquals("a", older.start(ECHO, "a").result(LONGEST));
            assertTrue(older.isReady());
        }
        try (SemelRuntime older = worker(ECHO)) {
            assertEquals("b", older.start(ECHO, "b").result(LONGEST), "and starts under it, too");
        }
    }

    @Test
    void an_older_worker_stops_when_the_schema_becomes_incompatible() throws Exception {
        CountDownLatch executed = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Workflow<String, String> slow = Workflow.define("slow", String.class, String.class)
                .body((ctx, text) -> ctx.step("wait", String.class, _ -> {
                    executed.countDown();
                    go.await();
                    return text;
                }));
        try (SemelRuntime older = worker(ECHO, slow)) {
            RunHandle<String> begun = older.start(slow, "x");
            executed.await();
            upgrade(BREAKING);
            assertEquals(0, fixture.count("semel_lease"), "the newer version took its right to write away");
            assertEquals(0, fixture.count("semel_fence"));
            assertEquals(1, fixture.number("SELECT count(*) FROM semel_unfinished_run WHERE owner IS NULL"));
            long runs = fixture.count("semel_run");
            SemelException refusal =
                    assertThrows(SemelException.class, () -> older.start(ECHO, "a", Start.withKey("k")));
            assertEquals(ErrorCode.STORE_UNAVAILABLE, refusal.code());
            assertTrue(refusal.detail().contains("newer"), refusal.detail());
            assertTrue(refusal.detail().contains("No run was started"), refusal.detail());
            assertEquals(runs, fixture.count("semel_run"));
            assertTrue(!older.isReady(), "it is not ready");
            assertTrue(
                    String.valueOf(older.workerStatus().unreadyReason()).contains("newer version of Semel"),
                    older.workerStatus().unreadyReason());
            go.countDown(); // what it was doing counts for nothing, and it does not take the run up again
            assertEquals(RunStatus.STARTED, begun.status());
            assertEquals(0, fixture.count("semel_lease"), "it takes no new lease");
        }
        assertEquals(0, fixture.count("semel_finished_run"));
    }

    @Test
    void an_older_worker_does_not_start_under_an_incompatible_schema() throws SQLException {
        store().migrate();
        upgrade(BREAKING);
        StoreFailure refusal = assertThrows(StoreFailure.SchemaTooNew.class, () -> worker(ECHO));
        assertTrue(String.valueOf(refusal.getMessage()).contains("V901__breaking.sql"), refusal.getMessage());
        assertTrue(String.valueOf(refusal.getMessage()).contains("Start the newer version"), refusal.getMessage());
        assertThrows(
                StoreFailure.SchemaTooNew.class,
                () -> store().openLeases().start(7, "sly", 1, 1_000_000),
                "nor gets a lease in another way");
        assertEquals(0, fixture.count("semel_lease"));
    }

    @Test
    void concurrent_migrations_run_once() throws Exception {
        int workers = 6;
        CyclicBarrier together = new CyclicBarrier(workers);
        try (var threads = Executors.newFixedThreadPool(workers)) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < workers; i++) {
                all.add(threads.submit(() -> {
                    together.await();
                    store().migrate();
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        }
        assertEquals(SchemaMigrations.ALL.size(), fixture.count("semel_migration"));
    }

    /** Stopped between two of its statements by a lock of ours; then its session is ended, as by a crash. */
    @Test
    void a_migration_that_crashes_half_way_is_done_by_the_next_start() throws Exception {
        store().migrate();
        String applied = "SELECT count(*) FROM semel_migration WHERE number = 900";
        String changed = "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema()"
                + " AND column_name IN ('mood', 'colour')";
        try (Connection holder = fixture.jdbc();
                Statement statement = holder.createStatement();
                var thread = Executors.newSingleThreadExecutor()) {
            holder.setAutoCommit(false);
            statement.execute("LOCK TABLE semel_run IN ACCESS SHARE MODE");
            Future<?> migration = thread.submit(() -> {
                upgrade(ADDITIVE);
                return null;
            });
            PostgresStoreFixture.awaitBlockedBy(holder);
            assertEquals(1, fixture.number("""
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE semel_run%' AND datname = current_database()
                """));
            assertThrows(Exception.class, migration::get);
            holder.rollback();
        }
        assertEquals(0, fixture.number(applied));
        assertEquals(0, fixture.number(changed), "not even its first statement");
        upgrade(ADDITIVE);
        assertEquals(1, fixture.number(applied));
        assertEquals(2, fixture.number(changed));
    }
}
