package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.trials.architecture.SourceFile;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What counts as code that is run. */
class SnippetsTest {
    // Written in two halves, so that this file has no snippet of its own.
    private static final String TEXT = """
        class T {
            // snip%s
            void one() {
                two();
            }
            // end

            // snip%s
            three();
            // end
        }
        """.formatted("pet", "pet");

    private final Snippets snippets = Snippets.among(List.of(
            new SourceFile("core/src/test/java/T.java", TEXT),
            new SourceFile("core/src/main/java/M.java", TEXT.replace("three", "four"))));

    @Test
    void a_block_that_stands_in_a_test_is_fine_wherever_it_is_indented_to() {
        assertEquals(2, snippets.texts().size());
        assertDoesNotThrow(() -> snippets.check("void one() {\n    two();\n}\n"));
        assertDoesNotThrow(() -> snippets.check("  three();\n"));
    }

    @Test
    void a_block_that_was_changed_or_stands_in_no_test_is_not() {
        assertThrows(IllegalArgumentException.class, () -> snippets.check("void one() {\n    three();\n}\n"));
        assertThrows(IllegalArgumentException.class, () -> snippets.check("four();\n"));
        assertThrows(IllegalArgumentException.class, () -> snippets.check("void one() {\n"));
    }
}
