package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** The real README and the real documents. How blocks are run is tested by {@link DocumentsRunnerTest}. */
class DocumentRunnerTest {
    /** By language. A language without a checker has to be run, or to say why not. */
    private static Map<String, Consumer<CodeBlock>> checkers(Snippets snippets) {
        return Map.of(
                "json",
                block -> JsonMapper.shared().readTree(block.text()),
                "yaml",
                block -> WorkflowDefinition.compile(completed(block.text())),
                "java",
                snippets::refuseOther);
    }

    /** A part of a workflow file stands in a document without the rest of it. */
    private static String completed(String text) {
        String head = text.startsWith("semel:") || text.contains("\nsemel:") ? "" : "semel: 1\nworkflow: example\n";
        String steps =
                text.startsWith("steps:") || text.contains("\nsteps:") ? "" : "steps: [{id: note, set: {ok: true}}]\n";
        return head + text + steps;
    }

    /** Its commands are run as a reader would: by the launcher, a process each. */
    private static boolean isMetFirst(SourceFile page) {
        return page.path().equals("README.md");
    }

    private static DocumentRunner documents(Path commands, Snippets snippets) {
        return new DocumentRunner(commands, LocalServer::new, checkers(snippets), Duration.ofMinutes(1));
    }

    @Test
    void every_block_of_the_readme_and_the_documents_works() throws Exception {
        SourceTree tree = SourceTree.find();
        List<SourceFile> pages = tree.files().stream()
                .filter(SourceFile::isMarkdown)
                .filter(file -> file.path().equals("README.md")
                        || file.path().startsWith("docs/")
                        || file.path().startsWith("examples/"))
                .toList();
        assertFalse(pages.isEmpty(), "No document was found.");
        Snippets snippets = Snippets.in(tree.files());
        DocumentRunner.Report report;
        try (InProcessCommands resident = new InProcessCommands(tree.root())) {
            DocumentRunner.Report first = documents(tree.root(), snippets)
                    .check(pages.stream().filter(DocumentRunnerTest::isMetFirst).toList());
            DocumentRunner.Report others = documents(resident.commands(), snippets)
                    .check(pages.stream().filter(page -> !isMetFirst(page)).toList());
            report = first.and(others);
        }
        System.out.printf(
                "%d documents: %d sessions run, %d blocks checked, %d not run:%n",
                pages.size(), report.ran(), report.checked(), report.excused().size());
        report.excused().forEach(block -> System.out.println("  " + block.place() + ": " + block.reason()));
        assertEquals("", String.join("\n", report.problems()));
    }
}
