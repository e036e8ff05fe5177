package dev.semel.runtime;

import dev.semel.Semel;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Workflows in Java, in a file of their own. */
final class EmbeddedWorkflowTest extends WorkflowApiContract {
    @TempDir
    Path folder;

    @Override
    SemelRuntime opened() {
        return (SemelRuntime) Semel.sqlite(folder.resolve("semel.db")).open();
    }
}
