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

/** The habits of the house, held against every file of the repository. {@link CodeStyleSamplesTest} breaks each of them. */
class CodeStyleTest {
    private static final String ERRORS = "docs/reference/errors.md";
    private static final SourceTree TREE = SourceTree.find();

    @Test
    void the_repository_follows_the_code_style() throws IOException {
        List<SourceFile> files = TREE.files();
        assertTrue(files.stream().anyMatch(file -> file.path().endsWith("error/ErrorCode.java")), "Nothing was read.");
        List<JavaFileStructure> shapes = JavaFileStructure.parse(files);
        List<StyleFinding> findings = new ArrayList<>();
        findings.addAll(CodeSizeRules.fileSizes(files));
        findings.addAll(CodeSizeRules.methodSizes(shapes));
        findings.addAll(CodeSizeRules.names(shapes));
        findings.addAll(CodeSizeRules.monitors(shapes));
        findings.addAll(TextStyleRules.postponed(files));
        findings.addAll(TextStyleRules.machinePaths(files));
        findings.addAll(TextStyleRules.concatenatedSql(shapes));
        findings.addAll(TextStyleRules.crashLabels(files));
        findings.addAll(TextStyleRules.titles(files));
        for (SourceFile file : files) {
            if (file.path().equals("CHANGELOG.md")) {
                findings.addAll(TextStyleRules.changelog(file));
            }
            if (file.path().equals(ERRORS)) {
                findings.addAll(TextStyleRules.errorCodes(slugs(), file));
            }
        }
        List<StyleFinding> left = StyleExceptions.REPOSITORY.apply(findings);
        assertTrue(left.isEmpty(), () -> lines(left));
    }

    /** Otherwise a renamed file would leave its check with nothing to look at. */
    @Test
    void every_checked_path_exists_or_has_a_reason() {
        Set<String> wanted = new TreeSet<>(CodeSizeRules.SHOWCASE);
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

    private static String lines(List<StyleFinding> findings) {
        return findings.stream().map(StyleFinding::toString).collect(Collectors.joining("\n", "\n", ""));
    }
}
