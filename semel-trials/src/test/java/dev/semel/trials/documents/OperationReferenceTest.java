package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.semel.server.api.ApiOperations;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationTable;
import dev.semel.server.operations.ReferencePage;
import dev.semel.trials.architecture.SourceTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class OperationReferenceTest {
    @Test
    void the_reference_page_has_every_declared_operation() throws Exception {
        Path root = SourceTree.find().root();
        String declared = ReferencePage.of(ApiOperations.TABLE);
        Path written = Files.writeString(root.resolve("semel-trials/target/operations.md"), declared);
        assertEquals(
                declared,
                Files.readString(root.resolve("docs/reference/operations.md")),
                "docs/reference/operations.md is out of date. Copy " + written + " over it.");
    }

    @Test
    void a_missing_operation_changes_the_page() {
        List<Operation<?>> all = ApiOperations.TABLE.operations();
        assertNotEquals(
                ReferencePage.of(ApiOperations.TABLE),
                ReferencePage.of(new OperationTable(all.subList(1, all.size()))));
    }
}
