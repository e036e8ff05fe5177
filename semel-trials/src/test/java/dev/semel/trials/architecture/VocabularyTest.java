package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents, messages, comments and the dashboard use the words of the field. */
class VocabularyTest {
    /** By {@link StyleFinding#key}: the rule, the path and the phrase, with the reason why the phrase is right there. */
    private static final StyleExceptions ALLOWED = new StyleExceptions(Map.of());

    @Test
    void the_repository_uses_the_words_of_the_field() throws IOException {
        List<SourceFile> files = SourceTree.find().files();
        List<String> covered = files.stream()
                .filter(VocabularyRules::covers)
                .map(SourceFile::path)
                .toList();
        for (String kind :
                List.of("README.md", "docs/", "examples/", ".java", ".jte", "openapi.json", "workflow-1.json")) {
            assertTrue(covered.stream().anyMatch(path -> path.startsWith(kind) || path.endsWith(kind)), kind);
        }
        List<StyleFinding> left = ALLOWED.apply(VocabularyRules.check(files));
        assertTrue(
                left.isEmpty(),
                () -> left.stream()
                        .map(StyleFinding::toString)
                        .collect(Collectors.joining("\n", "\n" + left.size() + " findings\n", "")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "the deed is done",
                "what was foretold",
                "a step foretells it",
                "its letterbox is open",
                "10 minutes unless told",
                "24 hours unless it says so",
                "the caller is told",
                "nobody was told",
                "what is on record",
                "the run goes on",
                "runs go on",
                "a token vouches for it",
                "the run is seen to",
                "the run is driven",
                "the request is refused",
                "values are refused",
                "99 of 100 within 20 ms",
                "what stands in the file",
                "it does not leave the house",
                "in hindsight",
                "a misfit is held",
                "somebody decides",
                "a person who looks",
                "whoever looks",
                "two wishes",
                "the server believes it",
                "events and other doors",
                "a pure room",
                "the five signals",
                "a word to the owner",
            })
    void each_banned_phrase_is_reported(String sample) {
        assertEquals(1, findings("docs/a.md", sample).size(), sample);
        assertEquals(
                1,
                findings("semel-core/src/main/java/A.java", "/** " + sample + " */ class A {}")
                        .size(),
                sample);
    }

    @Test
    void every_ban_has_a_sample() throws Exception {
        String[] samples = VocabularyTest.class
                .getDeclaredMethod("each_banned_phrase_is_reported", String.class)
                .getAnnotation(ValueSource.class)
                .strings();
        for (VocabularyRules.BannedPhrase banned : VocabularyRules.BANNED) {
            assertTrue(
                    List.of(samples).stream()
                            .anyMatch(sample -> banned.pattern().matcher(sample).find()),
                    banned.pattern().pattern());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "The server rejects the request.",
                "Connection refused",
                "the connection was refused",
                "a record on disk",
                "it goes online",
                "name, line and keep stay legal",
                "indeed",
                "an outdoors shop",
                "it is toldable",
            })
    void ordinary_words_are_not_reported(String sample) {
        assertEquals(List.of(), findings("docs/a.md", sample));
    }

    @Test
    void a_finding_has_file_line_phrase_and_replacement() {
        assertEquals(
                List.of("docs/a.md:2: \"is refused\". Write instead: the server rejects. [vocabulary]"),
                findings("docs/a.md", "# A\nThe request is\nrefused.\n").stream()
                        .map(StyleFinding::toString)
                        .toList());
    }

    @Test
    void java_literals_and_comments_are_read_and_identifiers_are_not() {
        String java = """
            /** A key
             * on
             * record. */
            class Deed {
                // It goes on.
                String a = "the request is"
                        + " refused", b = "a \\"wish\\"";
                char c = '"';
                int deed = 1; String d = ""\"
                    vouches
                    ""\";
            }
            """;
        assertEquals(
                List.of(
                        "A.java:2 on record",
                        "A.java:5 goes on",
                        "A.java:6 is refused",
                        "A.java:7 wish",
                        "A.java:10 vouches"),
                findings("a/src/main/A.java", java).stream()
                        .map(found ->
                                found.place().substring(11) + found.subject().substring(17))
                        .sorted((one, two) -> Integer.compare(line(one), line(two)))
                        .toList());
    }

    @Test
    void tests_and_data_are_not_covered() {
        assertEquals(List.of(), findings("semel-core/src/test/java/A.java", "// the deed"));
        assertEquals(List.of(), findings("semel-core/src/main/resources/a.sql", "-- the deed"));
    }

    private static int line(String finding) {
        return Integer.parseInt(finding.substring(7, finding.indexOf(' ')));
    }

    private static List<StyleFinding> findings(String path, String text) {
        return VocabularyRules.check(List.of(new SourceFile(path, text)));
    }
}
