package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What pages say about files and code, beside what their blocks show. */
class DocumentPagesTest {
    private static final Pattern LABEL = Pattern.compile("// CRASH\\(([a-z-]+)\\)");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z-]+)` \\| `([a-z/]*[A-Z]\\w*)` \\|");

    @Test
    void every_link_has_a_target() throws Exception {
        SourceTree tree = SourceTree.find();
        List<SourceFile> files = tree.files();
        Set<String> others = new TreeSet<>(Set.of("LICENSE"));
        try (Stream<Path> images = Files.list(tree.root().resolve("docs/images"))) {
            images.forEach(image -> others.add("docs/images/" + image.getFileName()));
        }
        DocumentLinks links = DocumentLinks.among(files);
        List<String> broken = new ArrayList<>();
        files.stream().filter(SourceFile::isMarkdown).forEach(page -> broken.addAll(links.broken(page, others)));
        assertEquals("", String.join("\n", broken));
    }

    @Test
    void a_broken_link_is_reported() {
        SourceFile page = new SourceFile(
                "docs/a.md",
                "[b](b.md) [b](b.md#two-words) [c](c.md) [b](b.md#three) [top](../README.md) [me](#here)\n# Here\n");
        SourceFile other = new SourceFile("docs/b.md", "# Two `words`!\n");
        assertEquals(
                List.of("docs/a.md: c.md", "docs/a.md: b.md#three"),
                DocumentLinks.among(List.of(page, other)).broken(page, Set.of("README.md")));
    }

    @Test
    void the_crash_table_has_every_label_of_the_code_with_its_file_and_no_other() throws Exception {
        Set<String> labels = new TreeSet<>();
        Set<String> rows = new TreeSet<>();
        for (SourceFile file : SourceTree.find().files()) {
            if (file.path().contains("/src/main/java/")) {
                String type = file.path().replaceFirst(".*/dev/semel/", "").replace(".java", "");
                LABEL.matcher(file.text()).results().forEach(label -> labels.add(label.group(1) + " in " + type));
            } else if (file.path().equals("docs/internals.md")) {
                ROW.matcher(file.text()).results().forEach(row -> rows.add(row.group(1) + " in " + row.group(2)));
            }
        }
        assertFalse(labels.isEmpty());
        assertEquals(labels, rows);
    }
}
