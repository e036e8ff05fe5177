package dev.semel.runtime;

import dev.semel.Semel;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Hard cases, in a file of their own. */
final class SqliteEdgeCasesTest extends EdgeCaseContract {
    @TempDir
    Path folder;

    @Override
    SemelRuntime opened() {
        return (SemelRuntime) Semel.sqlite(folder.resolve("semel.db")).open();
    }
}
