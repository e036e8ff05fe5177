package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.EngineEnvironment;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.store.PostgresPlace;
import dev.semel.store.StoredRows;
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
    private final PostgresPlace place = PostgresPlace.withItsOwnClock();

    @AfterEach
    void close() {
        place.close();
    }

    private RuntimeOptions named(String name) {
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        return RuntimeOptions.of(place.url(), none).withWorkerName(name);
    }

    @Test
    void the_version_is_the_one_that_the_build_has() throws IOException {
        String description = Files.readString(Path.of("..", "pom.xml"));
        assertTrue(
                description.contains("<version>" + WorkerStatus.VERSION + "</version>"),
                "pom.xml has another version than " + WorkerStatus.VERSION);
    }

    @Test
    void every_worker_shows_all_of_them_and_which_one_is_asked() {
        try (SemelRuntime first = SemelRuntime.open(named("first"));
                SemelRuntime second = SemelRuntime.open(named("second"))) {
            WorkerStatus.WorkerOverview workers = second.workerStatus().workers();
            assertEquals(
                    List.of("first", "second"),
                    workers.all().stream().map(StoredRows.WorkerRow::name).toList());
            assertEquals(workers.all().getLast().lease(), workers.ownLease());
            assertEquals(WorkerStatus.VERSION, workers.all().getFirst().version());
            assertEquals(0, workers.dueLag());
            assertNull(first.workerStatus().unreadyReason());
        }
    }

    @Test
    void two_workers_of_one_name_both_work_and_the_second_is_warned() {
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
        EngineEnvironment real = EngineEnvironment.real();
        long hour = TimeUnit.HOURS.toMicros(1);
        EngineEnvironment wrong = new EngineEnvironment(() -> real.micros() + hour, real::nanos, real.random());
        try (SemelRuntime semel = SemelRuntime.open(named("ahead").withClock(wrong, () -> 0))) {
            assertTrue(semel.isReady());
            StoredRows.WorkerRow worker = semel.workerStatus().workers().all().getFirst();
            assertTrue(Math.abs(worker.clockAhead() - hour) < hour / 2, "ahead by " + worker.clockAhead());
            assertTrue(worker.startedAt() < wrong.micros() - hour / 2, "its lease goes by the database's clock");
        }
    }
}
