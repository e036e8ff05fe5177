package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** The real README and the real documents. How blocks are run is tested by {@link DocumentsRunnerTest}. */
class DocumentsTest {
    /** By language. A language without a checker has to be run, or to say why not. */
    private static final Map<String, Consumer<String>> CHECKERS = Map.of("json", JsonMapper.shared()::readTree);

    /** A session without a server to talk to fails, so that no document can claim to be tested before it is. */
    private static final Supplier<Server> SERVERS = () -> {
        throw new IllegalStateException("A document has a shell session, and no server is wired in DocumentsTest yet.");
    };

    @Test
    void every_block_of_the_readme_and_the_documents_works() throws Exception {
        SourceTree tree = SourceTree.find();
        List<SourceFile> pages = tree.files().stream()
                .filter(SourceFile::isMarkdown)
                .filter(file -> file.path().equals("README.md") || file.path().startsWith("docs/"))
                .toList();
        assertFalse(pages.isEmpty(), "No document was found.");
        Documents documents = new Documents(tree.root(), SERVERS, CHECKERS, Duration.ofMinutes(1));
        Documents.Report report = documents.check(pages);
        System.out.printf(
                "%d documents: %d sessions run, %d blocks checked, %d not run:%n",
                pages.size(), report.ran(), report.checked(), report.excused().size());
        report.excused().forEach(block -> System.out.println("  " + block.place() + ": " + block.reason()));
        assertEquals("", String.join("\n", report.problems()));
    }
}
