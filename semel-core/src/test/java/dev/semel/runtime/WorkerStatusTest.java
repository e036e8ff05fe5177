package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.store.DatabaseRows;
import dev.semel.store.PostgresStoreFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Workers on one PostgreSQL see each other. */
final class WorkerStatusTest {
    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();

    @AfterEach
    void close() {
        fixture.close();
    }

    private RuntimeOptions named(String name) {
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        return RuntimeOptions.of(fixture.url(), none).withWorkerName(name);
    }

    @Test
    void the_version_is_the_build_version() throws IOException {
        String description = Files.readString(Path.of("..", "pom.xml"));
        assertTrue(
                description.contains("<version>" + WorkerStatus.VERSION + "</version>"),
                "pom.xml has another version than " + WorkerStatus.VERSION);
    }

    @Test
    void every_worker_lists_all_workers_and_marks_itself() {
        try (SemelRuntime first = SemelRuntime.open(named("first"));
                SemelRuntime second = SemelRuntime.open(named("second"))) {
            WorkerStatus.WorkerOverview workers = second.workerStatus().workers();
            assertEquals(
                    List.of("first", "second"),
                    workers.all().stream().map(DatabaseRows.WorkerRow::name).toList());
            assertEquals(workers.all().getLast().lease(), workers.ownLease());
            assertEquals(WorkerStatus.VERSION, workers.all().getFirst().version());
            assertEquals(0, workers.dueLag());
            assertNull(first.workerStatus().unreadyReason());
        }
    }

    @Test
    void two_workers_with_one_name_both_work_and_the_second_logs_a_warning() {
        Logger logger = Logger.getLogger(WorkerStatus.class.getName());
        ConcurrentLinkedQueue<String> said = new ConcurrentLinkedQueue<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                said.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        try (SemelRuntime first = SemelRuntime.open(named("twin"))) {
            assertEquals(0, said.size(), said::toString);
            try (SemelRuntime second = SemelRuntime.open(named("twin"))) {
                assertEquals(1, said.size(), said::toString);
                assertTrue(said.element().contains("Give each worker its own name"), said::toString);
                assertTrue(first.isReady() && second.isReady());
            }
        } finally {
            logger.removeHandler(handler);
        }
    }

    @Test
    void a_worker_with_a_wrong_clock_works_and_is_marked() {
        ClockAndRandomSource real = ClockAndRandomSource.real();
        long hour = TimeUnit.HOURS.toMicros(1);
        ClockAndRandomSource wrong = new ClockAndRandomSource(() -> real.micros() + hour, real::nanos, real.random());
        try (SemelRuntime semel = SemelRuntime.open(named("ahead").withClock(wrong, () -> 0))) {
            assertTrue(semel.isReady());
            DatabaseRows.WorkerRow worker = semel.workerStatus().workers().all().getFirst();
            assertTrue(Math.abs(worker.clockAhead() - hour) < hour / 2, "ahead by " + worker.clockAhead());
            assertTrue(worker.startedAt() < wrong.micros() - hour / 2, "its lease goes by the database's clock");
        }
    }
}
