package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Whole workflow files that pages show would publish as they stand. */
class DocumentedFilesTest {
    private static final Pattern FILE = Pattern.compile("```yaml\\n(semel: 1\\n.*?)```", Pattern.DOTALL);

    private record DocumentedFile(String page, String text) {}

    private static List<DocumentedFile> shown() throws Exception {
        List<DocumentedFile> shown = new ArrayList<>();
        for (SourceFile file : SourceTree.find().files()) {
            if (file.path().endsWith(".md")) {
                Matcher found = FILE.matcher(file.text());
                while (found.find()) {
                    shown.add(new DocumentedFile(file.path(), String.valueOf(found.group(1))));
                }
            }
        }
        return shown;
    }

    @Test
    void every_complete_file_on_a_page_passes_the_check() throws Exception {
        List<DocumentedFile> shown = shown();
        assertTrue(shown.size() >= 7, () -> "only " + shown.size() + " files are shown");
        for (DocumentedFile file : shown) {
            assertDoesNotThrow(() -> WorkflowDefinition.compile(file.text()), file.page() + "\n" + file.text());
        }
    }

    @Test
    void an_invalid_file_on_a_page_would_be_found() throws Exception {
        String spoilt = shown().getFirst().text().replace("steps:", "stepps:");
        assertThrows(SemelException.class, () -> WorkflowDefinition.compile(spoilt));
    }
}
