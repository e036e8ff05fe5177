package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.attacks.AttackReport.TestRun;
import dev.semel.trials.attacks.AttackReport.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every attack of the checklist names tests that exist, and only a test that ran counts. */
class AttackCatalogTest {
    private static final Pattern TEST = Pattern.compile("(?m)^    (?:public )?void (\\w+)\\(");

    /** The test methods of all modules by the simple name of their class. */
    private static Map<String, Set<String>> tests() throws IOException {
        Map<String, Set<String>> found = new HashMap<>();
        for (String module : List.of("semel-core", "semel-server", "semel-trials")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "test", "java"))) {
                for (Path file : files.filter(one -> one.toString().endsWith("Test.java"))
                        .toList()) {
                    String name = file.getFileName().toString().replace(".java", "");
                    Matcher method = TEST.matcher(Files.readString(file));
                    while (method.find()) {
                        found.computeIfAbsent(name, _ -> new HashSet<>()).add(method.group(1));
                    }
                }
            }
        }
        return found;
    }

    @Test
    void every_attack_names_tests_that_exist() throws IOException {
        Map<String, Set<String>> tests = tests();
        List<String> unknown = new ArrayList<>();
        for (AttackCatalog.Attack attack : AttackCatalog.load().attacks()) {
            for (AttackCatalog.TestPattern pattern : attack.tests()) {
                if (tests.getOrDefault(pattern.type(), Set.of()).stream()
                        .noneMatch(method -> pattern.matches(pattern.type(), method))) {
                    unknown.add(attack.id() + " " + pattern);
                }
            }
        }
        assertEquals(List.of(), unknown);
    }

    @Test
    void the_catalog_has_every_attack_of_the_checklist_once() {
        List<String> ids = AttackCatalog.load().attacks().stream()
                .map(AttackCatalog.Attack::id)
                .toList();
        assertEquals(ids.size(), Set.copyOf(ids).size());
        List<String> expected =
                IntStream.rangeClosed(1, 47).mapToObj(n -> "S" + n).toList();
        assertTrue(ids.containsAll(expected), () -> ids + "");
        assertTrue(ids.containsAll(List.of("14", "15", "16", "17", "18a", "18b", "18c", "18d", "18e", "18f", "18g")));
    }

    private static AttackReport report(TestRun... runs) {
        AttackCatalog catalog = AttackCatalog.parse(Stream.of("X1 | area | this | that | ATest#one, BTest#t*"));
        return AttackReport.of(catalog, List.of(runs));
    }

    @Test
    void an_attack_is_withstood_only_if_all_its_tests_ran_and_passed() {
        TestRun one = new TestRun("ATest", "one", "", true);
        TestRun two = new TestRun("BTest", "two", "", true);
        AttackReport good = report(one, two);
        assertEquals(Verdict.WITHSTOOD, good.rows().getFirst().verdict());
        assertTrue(good.allWithstood());
        assertTrue(
                good.table().contains("| X1 | area | this | that | as expected, in 2 tests | withstood |"),
                good::table);
        for (AttackReport untried :
                List.of(report(), report(one), report(two), report(one, new TestRun("BTest", "two", "", false)))) {
            assertEquals(Verdict.NOT_TRIED, untried.rows().getFirst().verdict());
            assertFalse(untried.allWithstood());
        }
        AttackReport failed = report(one, two, new TestRun("BTest", "third", "expected: 1 but was: 2", true));
        assertEquals(Verdict.FAILED, failed.rows().getFirst().verdict());
        assertFalse(failed.allWithstood());
        assertTrue(failed.table().contains("BTest#third: expected: 1 but was: 2"), failed::table);
    }

    @Test
    void a_report_of_the_build_is_read(@TempDir Path folder) throws Exception {
        Path report = folder.resolve("TEST-a.BTest.xml");
        Files.writeString(report, """
            <testsuite>
              <testcase name="two()[1]" classname="a.BTest"/>
              <testcase name="three(String)[2]" classname="a.BTest"><failure message="no&#10;more" type="t">x</failure></testcase>
              <testcase name="four" classname="a.BTest"><error type="a.Error"/></testcase>
              <testcase name="five" classname="a.BTest"><skipped/></testcase>
            </testsuite>
            """);
        assertEquals(
                List.of(
                        new TestRun("BTest", "two", "", true),
                        new TestRun("BTest", "three", "no", true),
                        new TestRun("BTest", "four", "a.Error", true),
                        new TestRun("BTest", "five", "", false)),
                AttackSuite.read(report));
    }
}
