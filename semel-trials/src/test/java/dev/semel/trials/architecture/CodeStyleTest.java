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

/** Checks every file of the repository against the style rules. {@link CodeStyleSamplesTest} breaks each rule. */
class CodeStyleTest {
    private static final String ERRORS = "docs/reference/errors.md";
    private static final SourceTree TREE = SourceTree.find();

    @Test
    void the_repository_follows_the_code_style() throws IOException {
        List<SourceFile> files = TREE.files();
        assertTrue(files.stream().anyMatch(file -> file.path().endsWith("error/ErrorCode.java")), "No file was read.");
        List<JavaFileStructure> shapes = JavaFileStructure.parse(files);
        List<StyleFinding> findings = new ArrayList<>();
        findings.addAll(CodeSizeRules.fileSizes(files));
        findings.addAll(CodeSizeRules.packageSizes(files));
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

    /** Otherwise a renamed file would leave its check without a subject. */
    @Test
    void every_checked_path_exists_or_has_a_reason() {
        Set<String> wanted = new TreeSet<>(CodeSizeRules.SHOWCASE);
        wanted.addAll(List.of(ERRORS, "CHANGELOG.md"));
        List<String> wrong = new ArrayList<>();
        for (String path : wanted) {
            boolean exists = Files.exists(TREE.root().resolve(path));
            boolean excused = NotBuiltYet.FILES.containsKey(path);
            if (!exists && !excused) {
                wrong.add(path + " does not exist. Write its new path into the check.");
            }
            if (exists && excused) {
                wrong.add(path + " exists. Remove it from NotBuiltYet.FILES.");
            }
        }
        NotBuiltYet.FILES.keySet().stream()
                .filter(path -> !wanted.contains(path))
                .forEach(path -> wrong.add("No check reads " + path + ". Remove it from NotBuiltYet.FILES."));
        assertEquals("", String.join("\n", wrong));
    }

    private static Set<String> slugs() {
        return Stream.of(ErrorCode.values()).map(ErrorCode::slug).collect(Collectors.toSet());
    }

    private static String lines(List<StyleFinding> findings) {
        return findings.stream().map(StyleFinding::toString).collect(Collectors.joining("\n", "\n", ""));
    }
}
