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

    private static Block shown(String words, String text) {
        return new Block("page.md", 1, "java", words, text);
    }

    @Test
    void every_java_block_is_code_that_runs_and_all_such_code_is_shown() throws Exception {
        List<SourceFile> files = SourceTree.find().files();
        List<Block> blocks = files.stream()
                .filter(SourceFile::isMarkdown)
                .flatMap(page -> Block.of(page).stream())
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
    void a_block_that_shows_its_snippet_is_fine_whatever_the_indentation() {
        assertDoesNotThrow(() -> snippets.refuseOther(shown("snippet:two-lines", "int a = 1;\n\nint b = 2;\n")));
    }

    @Test
    void a_block_that_differs_by_a_character_is_refused() {
        Block block = shown("snippet:two-lines", "int a = 1;\n\nint b = 3;\n");
        assertThrows(IllegalArgumentException.class, () -> snippets.refuseOther(block));
    }

    @Test
    void a_block_of_no_snippet_is_refused() {
        assertThrows(IllegalArgumentException.class, () -> snippets.refuseOther(shown("", "int a = 1;\n")));
        assertThrows(IllegalArgumentException.class, () -> snippets.refuseOther(shown("snippet:gone", "int a = 1;\n")));
    }

    @Test
    void a_snippet_that_no_page_shows_is_found() {
        assertEquals(Set.of("two-lines"), snippets.unshown(List.of()));
        assertTrue(snippets.unshown(List.of(shown("snippet:two-lines", ""))).isEmpty());
    }

    @Test
    void a_snippet_without_an_end_and_two_of_one_name_are_refused() {
        SourceFile open = new SourceFile("B.java", "// snippet:open\nint a;\n");
        SourceFile twice = new SourceFile("C.java", "// snippet:a\n// end\n// snippet:a\n// end\n");
        assertThrows(IllegalArgumentException.class, () -> Snippets.in(List.of(open)));
        assertThrows(IllegalArgumentException.class, () -> Snippets.in(List.of(twice)));
    }
}
