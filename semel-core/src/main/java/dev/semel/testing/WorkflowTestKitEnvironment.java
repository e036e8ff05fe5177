package dev.semel.testing;

import dev.semel.runtime.ManualClock;
import dev.semel.store.WorkflowStore;
import dev.semel.store.sqlite.SqliteStore;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** The store, manual clock and engines of one test execution; a crash sweep creates a new one per crash. */
final class WorkflowTestKitEnvironment implements AutoCloseable {
    /** Every environment starts at the same time, so that tests are deterministic. */
    private static final Instant BEGINNING = Instant.parse("2030-01-01T00:00:00Z");

    private final ManualClock clock = ManualClock.startingAt(BEGINNING);
    private final CrashInjectionPointTracker points = new CrashInjectionPointTracker();
    private final Path folder = newFolder();
    private final WorkflowStore store;
    private final CrashedTestEngineRestarter engines;

    /** What a world is made of. */
    record EnvironmentSetup(int engines, List<Workflow<?, ?>> workflows) {}

    WorkflowTestKitEnvironment(EnvironmentSetup plan) {
        this.store = SqliteStore.forTests(
                folder.resolve("semel.db"), clock::micros, clock.ambient().idSupplier());
        this.engines = new CrashedTestEngineRestarter(store, clock, points, plan.workflows()).open(plan.engines());
    }

    private static Path newFolder() {
        try {
            return Files.createTempDirectory("semel-kit");
        } catch (IOException e) {
            throw new UncheckedIOException("no folder for the kit's store", e);
        }
    }

    ManualClock clock() {
        return clock;
    }

    CrashInjectionPointTracker points() {
        return points;
    }

    CrashedTestEngineRestarter engines() {
        return engines;
    }

    @Override
    public void close() {
        engines.close();
        store.close();
        delete(folder);
    }

    private static void delete(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("the kit's folder could not be deleted", e);
        }
    }
}
