package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Java on pages is code that runs. */
class SnippetsTest {
    private static final String CODE = """
        class A {
            // snippet:two-lines
            int a = 1;

            int b = 2;
            // end
        }
        """;

    private final Snippets snippets = Snippets.in(List.of(new SourceFile("A.java", CODE)));

    private static CodeBlock shown(String words, String text) {
        return new CodeBlock("page.md", 1, "java", words, text);
    }

    @Test
    void every_java_block_is_a_tested_snippet_and_every_snippet_is_shown() throws Exception {
        List<SourceFile> files = SourceTree.find().files();
        List<CodeBlock> blocks = files.stream()
                .filter(SourceFile::isMarkdown)
                .flatMap(page -> CodeBlock.of(page).stream())
                .filter(block -> block.language().equals("java"))
                .toList();
        Snippets real = Snippets.in(files.stream()
                .filter(file -> !file.path().endsWith("/SnippetsTest.java"))
                .toList());
        assertFalse(blocks.isEmpty());
        blocks.forEach(real::refuseOther);
        assertEquals(Set.of(), real.unshown(blocks));
    }

    @Test
    void a_block_equal_to_its_snippet_passes_with_any_indentation() {
        assertDoesNotThrow(() -> snippets.refuseOther(shown("snippet:two-lines", "int a = 1;\n\nint b = 2;\n")));
    }

    @Test
    void a_block_that_differs_by_a_character_is_rejected() {
        CodeBlock block = shown("snippet:two-lines", "int a = 1;\n\nint b = 3;\n");
        assertThrows(IllegalArgumentException.class, () -> snippets.refuseOther(block));
    }

    @Test
    void a_block_without_a_snippet_is_rejected() {
        assertThrows(IllegalArgumentException.class, () -> snippets.refuseOther(shown("", "int a = 1;\n")));
        assertThrows(IllegalArgumentException.class, () -> snippets.refuseOther(shown("snippet:gone", "int a = 1;\n")));
    }

    @Test
    void a_snippet_that_no_page_shows_is_found() {
        assertEquals(Set.of("two-lines"), snippets.unshown(List.of()));
        assertTrue(snippets.unshown(List.of(shown("snippet:two-lines", ""))).isEmpty());
    }

    @Test
    void unterminated_and_duplicate_snippets_are_rejected() {
        SourceFile open = new SourceFile("B.java", "// snippet:open\nint a;\n");
        SourceFile twice = new SourceFile("C.java", "// snippet:a\n// end\n// snippet:a\n// end\n");
        assertThrows(IllegalArgumentException.class, () -> Snippets.in(List.of(open)));
        assertThrows(IllegalArgumentException.class, () -> Snippets.in(List.of(twice)));
    }
}
