package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The habits of the house, held against every file of the repository. {@link TidySamplesTest} breaks each of them. */
class TidyTest {
    private static final String ERRORS = "docs/reference/errors.md";
    private static final SourceTree TREE = SourceTree.find();

    @Test
    void the_repository_is_tidy() throws IOException {
        List<SourceFile> files = TREE.files();
        assertTrue(files.stream().anyMatch(file -> file.path().endsWith("error/ErrorCode.java")), "Nothing was read.");
        List<JavaShape> shapes = JavaShape.parse(files);
        List<Finding> findings = new ArrayList<>();
        findings.addAll(TidyShape.fileSizes(files));
        findings.addAll(TidyShape.methodSizes(shapes));
        findings.addAll(TidyShape.names(shapes));
        findings.addAll(TidyShape.monitors(shapes));
        findings.addAll(TidyText.postponed(files));
        findings.addAll(TidyText.machinePaths(files));
        findings.addAll(TidyText.gluedSql(shapes));
        findings.addAll(TidyText.crashLabels(files));
        findings.addAll(TidyText.titles(files));
        for (SourceFile file : files) {
            if (file.path().equals("CHANGELOG.md")) {
                findings.addAll(TidyText.changelog(file));
            }
            if (file.path().equals(ERRORS)) {
                findings.addAll(TidyText.errorCodes(slugs(), file));
            }
        }
        List<Finding> left = Allowed.REAL.apply(findings);
        assertTrue(left.isEmpty(), () -> lines(left));
    }

    /** Otherwise a renamed file would leave its check with nothing to look at. */
    @Test
    void what_the_checks_look_at_exists_or_has_a_reason() {
        Set<String> wanted = new TreeSet<>(TidyShape.SHOWCASE);
        wanted.addAll(List.of(ERRORS, "CHANGELOG.md"));
        List<String> wrong = new ArrayList<>();
        for (String path : wanted) {
            boolean exists = Files.exists(TREE.root().resolve(path));
            boolean excused = NotBuiltYet.FILES.containsKey(path);
            if (!exists && !excused) {
                wrong.add(path + " is gone. Point the check at its new place.");
            }
            if (exists && excused) {
                wrong.add(path + " is there. Take it off NotBuiltYet.FILES.");
            }
        }
        NotBuiltYet.FILES.keySet().stream()
                .filter(path -> !wanted.contains(path))
                .forEach(path -> wrong.add("No check looks at " + path + ". Take it off NotBuiltYet.FILES."));
        assertEquals("", String.join("\n", wrong));
    }

    private static Set<String> slugs() {
        return Stream.of(ErrorCode.values()).map(ErrorCode::slug).collect(Collectors.toSet());
    }

    private static String lines(List<Finding> findings) {
        return findings.stream().map(Finding::toString).collect(Collectors.joining("\n", "\n", ""));
    }
}
