package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.EvaluationResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the codebase against {@link DependencyRules}, and each rule against its fixture in {@link DependencyFixtures}.
 */
class DependencyRulesTest {
    private static final JavaClasses REAL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar") && !location.contains("/dev/semel/trials/"))
            .importPackages(PackageLayout.REAL.base());

    private static DependencyFixtures fixtures;

    @BeforeAll
    static void compileFixtures(@TempDir Path folder) {
        fixtures = DependencyFixtures.compile(folder);
    }

    static List<DependencyRule> rules() {
        return new DependencyRules(PackageLayout.REAL).all();
    }

    @ParameterizedTest
    @MethodSource("rules")
    void the_codebase_follows_its_dependency_rules(DependencyRule rule) {
        rule.rule().check(REAL);
    }

    @Test
    void packages_have_no_cyclic_dependencies() {
        new DependencyRules(PackageLayout.REAL).noCycles().check(REAL);
    }

    @Test
    void a_rule_without_classes_needs_a_reason() {
        List<String> wrong = new ArrayList<>();
        for (DependencyRule rule : rules()) {
            boolean empty = rule.subjects(REAL).isEmpty();
            boolean excused = NotBuiltYet.RULES.containsKey(rule.name());
            if (empty && !excused) {
                wrong.add(
                        "Rule " + rule.name() + " covers no class. Write the package's new name into DependencyRules.");
            }
            if (!empty && excused) {
                wrong.add("Rule " + rule.name() + " covers classes. Remove it from NotBuiltYet.RULES.");
            }
        }
        Set<String> unknown = new TreeSet<>(NotBuiltYet.RULES.keySet());
        unknown.removeAll(rules().stream().map(DependencyRule::name).toList());
        unknown.forEach(name -> wrong.add("No rule is called " + name + ". Remove it from NotBuiltYet.RULES."));
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    /** Otherwise a renamed accessor or class would leave a rule without a subject. */
    @Test
    void the_payload_rules_name_existing_accessors_and_classes() {
        List<String> missing = new ArrayList<>();
        for (String accessor : PayloadAccess.COLUMNS) {
            int dot = accessor.lastIndexOf('.');
            String owner = PackageLayout.REAL.base() + "." + accessor.substring(0, dot);
            if (!REAL.contain(owner)
                    || REAL.get(owner).tryGetMethod(accessor.substring(dot + 1)).isEmpty()) {
                missing.add(accessor);
            }
        }
        Stream.concat(PayloadAccess.READERS.stream(), PayloadAccess.UNMASKERS.stream())
                .map(name -> PackageLayout.REAL.base() + ".server." + name)
                .filter(name -> !REAL.contain(name))
                .forEach(missing::add);
        assertEquals(List.of(), missing, "Write the new name into PayloadAccess.");
    }

    @ParameterizedTest
    @MethodSource("rules")
    void each_rule_reports_exactly_its_violations(DependencyRule real) {
        PackageLayout layout = DependencyFixtures.layout(real.name());
        JavaClasses classes = fixtures.classes(real.name());
        DependencyRule rule = new DependencyRules(layout)
                .all().stream()
                        .filter(other -> other.name().equals(real.name()))
                        .findFirst()
                        .orElseThrow();
        Set<String> bad = names(classes.stream().filter(DependencyRulesTest::isBad));
        assertFalse(bad.isEmpty(), () -> "No fixture breaks the rule " + real.name() + " in " + layout.base());
        assertEquals(bad, offenders(rule.rule().evaluate(classes)));
        boolean hasCompliant = rule.subjects(classes).stream().anyMatch(type -> !isBad(type));
        assertTrue(
                hasCompliant,
                () -> "No compliant class is covered by the rule " + real.name() + " in " + layout.base());
    }

    @Test
    void a_cycle_between_two_packages_is_reported() {
        JavaClasses classes = fixtures.classes("cycles");
        List<String> cycles = new DependencyRules(DependencyFixtures.layout("cycles"))
                .noCycles()
                .evaluate(classes)
                .getFailureReport()
                .getDetails();
        assertEquals(1, cycles.size(), () -> String.join("\n", cycles));
        for (JavaClass type : classes) {
            assertEquals(isBad(type), cycles.getFirst().contains(type.getName()), type.getName());
        }
    }

    private static Set<String> offenders(EvaluationResult result) {
        List<JavaClass> found = new ArrayList<>();
        result.handleViolations((Collection<JavaClass> types, String message) -> found.addAll(types));
        return names(found.stream());
    }

    private static Set<String> names(Stream<JavaClass> types) {
        return types.map(DependencyRulesTest::outermost)
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isBad(JavaClass type) {
        return outermost(type).getSimpleName().startsWith("Bad");
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(DependencyRulesTest::outermost).orElse(type);
    }
}
