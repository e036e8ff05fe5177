package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A sample that breaks each rule of {@link CodeStyleTest}, and one that follows it. */
class CodeStyleSamplesTest {
    private static final String CORE = "semel-core/src/main/java/dev/semel/";

    @Test
    void a_file_of_more_than_600_lines_is_reported() {
        assertEquals(List.of(), CodeSizeRules.fileSizes(List.of(file(CORE + "run/Long.java", "x\n".repeat(600)))));
        List<StyleFinding> found = CodeSizeRules.fileSizes(List.of(file(CORE + "run/Long.java", "x\n".repeat(601))));
        assertEquals(List.of("file-size " + CORE + "run/Long.java"), keys(found));
        assertTrue(found.getFirst().message().contains("Split it"), found::toString);
    }

    @Test
    void a_showcase_file_of_more_than_150_lines_is_reported() {
        String path = CORE + "admission/TriggerAdmissionRules.java";
        assertEquals(List.of(), CodeSizeRules.fileSizes(List.of(file(path, "x\n".repeat(150)))));
        assertEquals(
                1,
                CodeSizeRules.fileSizes(List.of(file(path, "x\n".repeat(151)))).size());
    }

    @Test
    void a_docs_page_may_be_long() {
        assertEquals(List.of(), CodeSizeRules.fileSizes(List.of(file("docs/start.md", "x\n".repeat(1000)))));
    }

    @Test
    void a_package_of_more_than_25_files_is_reported() {
        List<SourceFile> files = IntStream.rangeClosed(1, 26)
                .mapToObj(i -> file(CORE + "run/Sample" + i + ".java", "class Sample" + i + " {}\n"))
                .toList();
        assertEquals(List.of(), CodeSizeRules.packageSizes(files.subList(0, 25)));
        assertEquals(
                List.of("package-size semel-core/src/main/java/dev/semel/run"),
                keys(CodeSizeRules.packageSizes(files)));
    }

    @Test
    void a_method_of_more_than_60_lines_is_reported() throws IOException {
        assertEquals(List.of(), CodeSizeRules.methodSizes(shapes(methodOf(58))));
        assertEquals(
                List.of("method-size " + CORE + "run/Sample.java#go"),
                keys(CodeSizeRules.methodSizes(shapes(methodOf(59)))));
    }

    @Test
    void a_meaningless_name_is_reported_with_its_replacement() throws IOException {
        List<StyleFinding> found = CodeSizeRules.names(shapes("""
            class RunManager { interface KeyUtil {} record RunInfo() {} enum Base62 {} }
            class AbstractStore {}
            class SemelStore {}
            class Semel {}
            """));
        assertEquals(
                List.of(
                        "type-name RunManager",
                        "type-name KeyUtil",
                        "type-name RunInfo",
                        "type-name AbstractStore",
                        "product-prefix SemelStore"),
                keys(found));
        assertTrue(found.getFirst().message().contains("as in GroupCommitter"), found::toString);
        assertTrue(found.getLast().message().contains("call it Store"), found::toString);
    }

    @Test
    void a_catch_all_package_is_reported() throws IOException {
        assertEquals(
                1,
                CodeSizeRules.names(shapes("package dev.semel.util; class Sample {}"))
                        .size());
        assertEquals(List.of(), CodeSizeRules.names(shapes("package dev.semel.utility; class Sample {}")));
    }

    @Test
    void a_lock_in_a_pure_package_is_reported() throws IOException {
        String code = "class Sample { void go() { synchronized (this) { } } }";
        assertEquals(1, CodeSizeRules.monitors(shapes(code)).size());
        SourceFile engine = file(CORE + "engine/Sample.java", code);
        assertEquals(List.of(), CodeSizeRules.monitors(JavaFileStructure.parse(List.of(engine))));
    }

    @Test
    void a_todo_is_reported() {
        for (String word : List.of("TO" + "DO", "FIX" + "ME")) {
            assertEquals(
                    1,
                    TextStyleRules.postponed(List.of(file("docs/a.md", "fine\n" + word + " later\n")))
                            .size());
        }
        assertEquals(List.of(), TextStyleRules.postponed(List.of(file("docs/a.md", "a todo list, METHODOLOGY"))));
    }

    @Test
    void a_machine_specific_path_is_reported() {
        String format = "see /%s/ann/x";
        for (String folder : List.of("home", "Users", "root", "work", "tmp")) {
            assertEquals(
                    1,
                    TextStyleRules.machinePaths(List.of(file("docs/a.md", format.formatted(folder))))
                            .size(),
                    folder);
        }
        String fine = "GET /v1/work/x, ./tmp/x, ~/home/x, https://example.org/home/x, /usr/lib/jvm, $DIR/tmp/x";
        assertEquals(List.of(), TextStyleRules.machinePaths(List.of(file("docs/a.md", fine))));
    }

    @Test
    void sql_joined_with_plus_is_reported() throws IOException {
        assertEquals(1, concatenated("return \"select * from \" + table;"));
        assertEquals(1, concatenated("return \"SELECT a \" + \"FROM b \" + \"WHERE c = ?\";"));
        assertEquals(1, concatenated("return \"\"\"\n  delete from %s\n  \"\"\".formatted(table);"));
        assertEquals(1, concatenated("return \"insert into run values (\" + id + \")\";"));
        assertEquals(1, concatenated("return \"update \" + table + \" set a = 1\";"));
        assertEquals(0, concatenated("return \"\"\"\n  select * from run\n  \"\"\";"));
        assertEquals(0, concatenated("return \"Run \" + id + \" was not selected from the list.\";"));
    }

    @Test
    void tests_may_join_sql() throws IOException {
        SourceFile test = file(
                "semel-core/src/test/java/dev/semel/store/Sample.java",
                "class Sample { String go(String t) { return \"select count(*) from \" + t; } }");
        assertEquals(List.of(), TextStyleRules.concatenatedSql(JavaFileStructure.parse(List.of(test))));
    }

    @Test
    void a_crash_label_is_unique_and_says_what_a_restart_finds() {
        String point = "  environment.point(\"step-recorded\");\n";
        SourceFile one = file(CORE + "engine/A.java", "  // CRASH(step-recorded): the entry is there.\n" + point);
        SourceFile two = file(CORE + "engine/B.java", "  // CRASH(step-recorded): again.\n" + point);
        SourceFile mute = file(CORE + "engine/C.java", "  // CRASH(other)\n");
        SourceFile shout = file(CORE + "engine/D.java", "  // CRASH(Not A Slug): why.\n");
        assertEquals(List.of(), TextStyleRules.crashLabels(List.of(one)));
        assertEquals(
                List.of(two.path(), mute.path(), shout.path()),
                TextStyleRules.crashLabels(List.of(one, two, mute, shout)).stream()
                        .map(StyleFinding::subject)
                        .toList());
    }

    @Test
    void a_crash_label_is_a_point_where_a_process_can_be_halted() {
        String comment = "  // CRASH(step-recorded): the entry is there.\n";
        SourceFile sourceFile = file(CORE + "engine/A.java", comment + "  proceed();\n");
        SourceFile other = file(CORE + "engine/B.java", comment + "  environment.point(\"step-done\");\n");
        SourceFile last = file(CORE + "engine/C.java", comment.strip());
        for (SourceFile file : List.of(sourceFile, other, last)) {
            assertEquals(1, TextStyleRules.crashLabels(List.of(file)).size(), file.path());
        }
    }

    @Test
    void error_codes_and_their_page_agree() {
        SourceFile page = file("docs/reference/errors.md", "# Errors\n\n## How to read\n\n## not-found\n\n## `gone`\n");
        assertEquals(List.of(), TextStyleRules.errorCodes(Set.of("not-found", "gone"), page));
        assertEquals(
                1,
                TextStyleRules.errorCodes(Set.of("not-found", "gone", "internal"), page)
                        .size());
        assertEquals(1, TextStyleRules.errorCodes(Set.of("not-found"), page).size());
        SourceFile twice = file("docs/reference/errors.md", "# Errors\n\n## not-found\n\n## not-found\n");
        assertEquals(1, TextStyleRules.errorCodes(Set.of("not-found"), twice).size());
    }

    @Test
    void a_page_has_one_title_and_starts_with_it() {
        assertEquals(List.of(), TextStyleRules.titles(List.of(file("a.md", "# A\n\n```sh\n# comment\n```\n## B\n"))));
        for (String wrong : List.of("## B\n", "# A\n# B\n", "## B\n# A\n", "text\n")) {
            assertEquals(1, TextStyleRules.titles(List.of(file("a.md", wrong))).size(), wrong);
        }
    }

    @Test
    void a_changelog_entry_is_under_a_release_and_a_known_heading() {
        String good =
                "# Changelog\n\n## [Unreleased]\n\n### Safety\n\n- a\n\n## [1.0.0] - 2026-11-15\n\n### Added\n\n- b\n";
        assertEquals(List.of(), TextStyleRules.changelog(file("CHANGELOG.md", good)));
        assertEquals(1, changelog("## [Unreleased]\n- a\n"));
        assertEquals(1, changelog("### Added\n- a\n"));
        assertEquals(1, changelog("## [Unreleased]\n### Improved\n- a\n"));
        assertEquals(1, changelog("## Soon\n"));
    }

    @Test
    void an_unused_exception_is_reported() {
        StyleFinding finding = new StyleFinding("file-size", "a.java", "a.java:601", "too long");
        assertEquals(List.of(), new StyleExceptions(Map.of("file-size a.java", "why")).apply(List.of(finding)));
        assertEquals(List.of(finding), new StyleExceptions(Map.of()).apply(List.of(finding)));
        assertEquals(
                List.of("stale-exception file-size a.java"),
                keys(new StyleExceptions(Map.of("file-size a.java", "why")).apply(List.of())));
    }

    private static int changelog(String text) {
        return TextStyleRules.changelog(file("CHANGELOG.md", text)).size();
    }

    private static int concatenated(String statement) throws IOException {
        String code = "class Sample { String go(String table, String id) { " + statement + " } }";
        return TextStyleRules.concatenatedSql(shapes(code)).size();
    }

    private static String methodOf(int lines) {
        return "class Sample {\n  void go() {\n" + "    run();\n".repeat(lines) + "  }\n}\n";
    }

    private static List<JavaFileStructure> shapes(String code) throws IOException {
        return JavaFileStructure.parse(List.of(file(CORE + "run/Sample.java", code)));
    }

    private static List<String> keys(List<StyleFinding> findings) {
        return findings.stream().map(StyleFinding::key).toList();
    }

    private static SourceFile file(String path, String text) {
        return new SourceFile(path, text);
    }
}
