package dev.semel.trials.seeds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.architecture.SourceFile;
import dev.semel.trials.architecture.SourceTree;
import dev.semel.trials.documents.DocumentLinks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every statement of the seeds has a test that tries it, or a reason why Semel differs. */
class SeedStatementsTest {
    private static final String PAGE = "semel-trials/seed-statements.md";
    private static final int STATEMENTS = 192;

    @Test
    void every_statement_holds_or_differs_on_purpose() throws IOException {
        List<SourceFile> files = SourceTree.find().files();
        SourceFile page = files.stream()
                .filter(file -> file.path().equals(PAGE))
                .findFirst()
                .orElseThrow();
        List<SeedStatement> rows = SeedStatementRules.rows(page);
        List<SeedStatement> open = rows.stream()
                .filter(row -> row.verdict() == SeedStatement.Verdict.OPEN)
                .toList();
        System.out.println("seed statements: " + rows.size() + ", open: " + open.size());
        open.forEach(row -> System.out.println("open: " + row.number() + " " + row.reason()));
        List<String> problems =
                new ArrayList<>(new SeedStatementRules(STATEMENTS, new TestSources(files)).problems(page));
        problems.addAll(DocumentLinks.among(files).broken(page, Set.of()));
        assertEquals("", String.join("\n", problems));
    }

    private static final String GOOD = "| 1 | \"a key\" | holds | `ATest#a_test` |";
    private static final String OTHER = "| 2 | \"a time\" | differs on purpose | The window is longer, because retries"
            + " come late: [window](../docs/k.md#window). `ATest#a_parameterized_test` |";
    private static final String LAST = "| 3 | \"a form\" | open | Nobody has written this form yet. |";

    private static final TestSources TESTS = new TestSources(List.of(
            java("a", "ATest", """
                class ATest extends Rules implements b.More<String> {
                    @Test void a_test() {}
                    @ParameterizedTest(name = "x") @ValueSource(ints = 1) void a_parameterized_test(int n) {}
                    void helper() {}
                    @Disabled @Test void disabled() {}
                    @EnabledOnOs(OS.LINUX) @Test void sometimes() {}
                    @Test void skipping() { assumeTrue(false); }
                }
                """),
            java("a", "Rules", "abstract class Rules { @Test void inherited() {} }"),
            java("b", "TwiceTest", "class TwiceTest { @Test void a_test() {} }"),
            java("c", "TwiceTest", "class TwiceTest { @Test void a_test() {} }"),
            java("a", "OffTest", "@Disabled(\"slow\") class OffTest { @Test void a_test() {} }"),
            java("a", "BaseTest", "abstract class BaseTest { @Test void a_test() {} }"),
            java("a", "HeirTest", "import b.Off; class HeirTest extends Off { @Test void a_test() {} }"),
            java("b", "Off", "@DisabledOnOs(OS.LINUX) abstract class Off {}"),
            java("a", "Helper", "class Helper { @Test void a_test() {} }")));

    private static List<String> problems(String... rows) {
        SourceFile page = new SourceFile(
                PAGE, "# T\n\n| # | quote | verdict | e |\n|---|---|---|---|\n" + String.join("\n", rows));
        SourceFile docs = new SourceFile("docs/k.md", "# Keys\n\n## Window\n");
        List<String> problems = new ArrayList<>(new SeedStatementRules(3, TESTS).problems(page));
        problems.addAll(DocumentLinks.among(List.of(page, docs)).broken(page, Set.of()));
        return problems;
    }

    private static SourceFile java(String folder, String type, String text) {
        return new SourceFile("m/src/test/java/" + folder + "/" + type + ".java", "package " + folder + ";\n" + text);
    }

    @Test
    void a_complete_table_has_no_problem() {
        assertEquals(List.of(), problems(GOOD, OTHER, LAST));
        assertEquals(List.of(), problems(GOOD.replace("a_test", "inherited"), OTHER, LAST));
        assertEquals(List.of(), problems(GOOD.replace("ATest", "b.TwiceTest"), OTHER, LAST));
    }

    @Test
    void missing_duplicate_and_unknown_numbers_are_reported() {
        assertEquals(List.of("2: the table has 0 rows with this number"), problems(GOOD, LAST));
        assertEquals(List.of("1: the table has 2 rows with this number"), problems(GOOD, GOOD, OTHER, LAST));
        assertEquals(
                List.of("4: no seed statement has this number"),
                problems(GOOD, OTHER, LAST, GOOD.replace("| 1 |", "| 4 |")));
    }

    @ParameterizedTest
    @CsvSource({
        "NoSuchTest#a_test, no test class has this name",
        "TwiceTest#a_test, 'several classes have this test, write more of the package: [b.TwiceTest, c.TwiceTest]'",
        "ATest#no_such_test, the class has no such method",
        "ATest#helper, the method is no test",
        "ATest#disabled, the test is disabled",
        "ATest#sometimes, the test is disabled",
        "ATest#skipping, the test can skip itself",
        "OffTest#a_test, the class is disabled",
        "HeirTest#a_test, the class is disabled",
        "BaseTest#a_test, the build runs only classes that end with Test and are not abstract",
        "Helper#a_test, the build runs only classes that end with Test and are not abstract",
    })
    void a_name_that_is_no_running_test_is_reported(String test, String problem) {
        assertEquals(List.of("1: " + test + ": " + problem), problems(GOOD.replace("ATest#a_test", test), OTHER, LAST));
        assertEquals(
                List.of("2: " + test + ": " + problem),
                problems(GOOD, OTHER.replace("ATest#a_parameterized_test", test), LAST));
    }

    @Test
    void a_statement_that_holds_has_tests_and_nothing_else() {
        assertEquals(
                List.of("1: no test", "1: not the name of a test: seen once"),
                problems(GOOD.replace("`ATest#a_test`", "seen once"), OTHER, LAST));
        assertEquals(
                List.of("1: not the name of a test: in part"),
                problems(GOOD.replace("a_test`", "a_test`, in part"), OTHER, LAST));
    }

    @Test
    void a_difference_has_a_reason_and_a_heading_that_exists() {
        String link = "[window](../docs/k.md#window)";
        assertEquals(List.of("2: no reason"), problems(GOOD, OTHER.replaceAll("The window.*come late: ", ""), LAST));
        assertEquals(
                List.of("2: no link to the heading of the page that states it"),
                problems(GOOD, OTHER.replace(link, "see the docs"), LAST));
        assertEquals(
                List.of("2: no link to the heading of the page that states it"),
                problems(GOOD, OTHER.replace("#window", ""), LAST));
        assertEquals(List.of(PAGE + ": ../docs/k.md#scope"), problems(GOOD, OTHER.replace("#window", "#scope"), LAST));
        assertEquals(List.of(PAGE + ": ../docs/l.md#window"), problems(GOOD, OTHER.replace("k.md", "l.md"), LAST));
    }

    @Test
    void an_open_statement_has_a_reason_and_an_unreadable_row_is_reported() {
        assertEquals(List.of("3: no reason"), problems(GOOD, OTHER, "| 3 | \"a form\" | open | soon |"));
        List<String> unknown = problems(GOOD, OTHER, LAST.replace("| open |", "| perhaps |"));
        assertEquals(2, unknown.size(), unknown::toString);
        assertTrue(unknown.getFirst().startsWith("not a row of four cells with a known verdict"), unknown::toString);
        assertEquals(2, problems(GOOD.replace("\"a key\"", ""), OTHER, LAST).size());
    }
}
