package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.Ambient;
import dev.semel.engine.Catalog;
import dev.semel.store.PostgresPlace;
import dev.semel.store.Rows;
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
final class StandingTest {
    private final PostgresPlace place = PostgresPlace.withItsOwnClock();

    @AfterEach
    void close() {
        place.close();
    }

    private Settings named(String name) {
        Catalog.Compiler none = version -> {
            throw new Catalog.NotKnownHere(version.name(), version.workflowId());
        };
        return Settings.of(place.url(), none).withWorker(name);
    }

    @Test
    void the_version_is_the_one_that_the_build_has() throws IOException {
        String description = Files.readString(Path.of("..", "pom.xml"));
        assertTrue(
                description.contains("<version>" + Standing.VERSION + "</version>"),
                "pom.xml has another version than " + Standing.VERSION);
    }

    @Test
    void every_worker_shows_all_of_them_and_which_one_is_asked() {
        try (Semel first = Semel.open(named("first"));
                Semel second = Semel.open(named("second"))) {
            Standing.Workers workers = second.standing().workers();
            assertEquals(
                    List.of("first", "second"),
                    workers.all().stream().map(Rows.Worker::name).toList());
            assertEquals(workers.all().getLast().lease(), workers.here());
            assertEquals(Standing.VERSION, workers.all().getFirst().version());
            assertEquals(0, workers.lag());
            assertNull(first.standing().trouble());
        }
    }

    @Test
    void two_workers_of_one_name_both_work_and_the_second_is_warned() {
        Logger logger = Logger.getLogger(Standing.class.getName());
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
        try (Semel first = Semel.open(named("twin"))) {
            assertEquals(0, said.size(), said::toString);
            try (Semel second = Semel.open(named("twin"))) {
                assertEquals(1, said.size(), said::toString);
                assertTrue(said.element().contains("Give each worker its own name"), said::toString);
                assertTrue(first.ready() && second.ready());
            }
        } finally {
            logger.removeHandler(handler);
        }
    }

    @Test
    void a_worker_with_a_wrong_clock_works_and_is_marked() {
        Ambient real = Ambient.real();
        long hour = TimeUnit.HOURS.toMicros(1);
        Ambient wrong = new Ambient(() -> real.micros() + hour, real::nanos, real.random());
        try (Semel semel = Semel.open(named("ahead").withClock(wrong, () -> 0))) {
            assertTrue(semel.ready());
            Rows.Worker worker = semel.standing().workers().all().getFirst();
            assertTrue(Math.abs(worker.ahead() - hour) < hour / 2, "ahead by " + worker.ahead());
            assertTrue(worker.startedAt() < wrong.micros() - hour / 2, "its lease goes by the database's clock");
        }
    }
}
