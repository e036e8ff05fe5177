package dev.semel;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Workflows in Java, in a file of their own. */
final class EmbeddedWorkflowTest extends WorkflowApiContract {
    @TempDir
    Path folder;

    @Override
    Semel opened() {
        return Semel.embedded(folder.resolve("semel.db"));
    }
}
