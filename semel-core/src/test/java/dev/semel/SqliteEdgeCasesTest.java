package dev.semel;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Hard cases, in a file of their own. */
final class SqliteEdgeCasesTest extends EdgeCaseContract {
    @TempDir
    Path folder;

    @Override
    Semel opened() {
        return Semel.embedded(folder.resolve("semel.db"));
    }
}
