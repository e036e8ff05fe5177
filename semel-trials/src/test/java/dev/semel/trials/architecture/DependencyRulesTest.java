package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.EvaluationResult;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Holds the real house against {@link DependencyRules}, and each wall against its fixture. In a fixture every top-level class
 * named {@code Bad…} must be reported by its wall, and no other may be.
 */
class DependencyRulesTest {
    private static final JavaClasses REAL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar") && !location.contains("/dev/semel/trials/"))
            .importPackages(PackageLayout.REAL.base());

    static List<DependencyRule> walls() {
        return new DependencyRules(PackageLayout.REAL).all();
    }

    @ParameterizedTest
    @MethodSource("walls")
    void the_codebase_follows_its_dependency_rules(DependencyRule wall) {
        wall.rule().check(REAL);
    }

    @Test
    void packages_have_no_cyclic_dependencies() {
        new DependencyRules(PackageLayout.REAL).noCycles().check(REAL);
    }

    @Test
    void a_rule_without_classes_needs_a_reason() {
        List<String> wrong = new ArrayList<>();
        for (DependencyRule wall : walls()) {
            boolean empty = wall.subjects(REAL).isEmpty();
            boolean excused = NotBuiltYet.RULES.containsKey(wall.name());
            if (empty && !excused) {
                wrong.add(
                        "Wall " + wall.name() + " guards no class. Point it at the room's new name in Rooms or Walls.");
            }
            if (!empty && excused) {
                wrong.add("Room " + wall.name() + " is built. Take it off NotBuiltYet.WALLS.");
            }
        }
        Set<String> unknown = new TreeSet<>(NotBuiltYet.RULES.keySet());
        unknown.removeAll(walls().stream().map(DependencyRule::name).toList());
        unknown.forEach(name -> wrong.add("No wall is called " + name + ". Take it off NotBuiltYet.WALLS."));
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    @ParameterizedTest
    @MethodSource("walls")
    void each_rule_reports_exactly_its_violations(DependencyRule real) {
        PackageLayout model = fixture(real.name());
        JavaClasses classes = new ClassFileImporter().importPackages(model.base());
        DependencyRule wall = new DependencyRules(model)
                .all().stream()
                        .filter(other -> other.name().equals(real.name()))
                        .findFirst()
                        .orElseThrow();
        Set<String> bad = names(classes.stream().filter(DependencyRulesTest::isBad));
        assertFalse(bad.isEmpty(), () -> "No fixture breaks the wall " + real.name() + " in " + model.base());
        assertEquals(bad, offenders(wall.rule().evaluate(classes)));
        boolean hasLawful = wall.subjects(classes).stream().anyMatch(type -> !isBad(type));
        assertTrue(hasLawful, () -> "No lawful class stands behind the wall " + real.name() + " in " + model.base());
    }

    @Test
    void a_cycle_between_two_packages_is_reported() {
        PackageLayout model = fixture("cycles");
        JavaClasses classes = new ClassFileImporter().importPackages(model.base());
        List<String> cycles =
                new DependencyRules(model).noCycles().evaluate(classes).getFailureReport().getDetails();
        assertEquals(1, cycles.size(), () -> String.join("\n", cycles));
        for (JavaClass type : classes) {
            assertEquals(isBad(type), cycles.getFirst().contains(type.getName()), type.getName());
        }
    }

    private static PackageLayout fixture(String name) {
        return new PackageLayout(DependencyRulesTest.class.getPackageName() + ".fixture." + name);
    }

    private static Set<String> offenders(EvaluationResult result) {
        List<JavaClass> found = new ArrayList<>();
        result.handleViolations((Collection<JavaClass> types, String message) -> found.addAll(types));
        return names(found.stream());
    }

    private static Set<String> names(Stream<JavaClass> types) {
        return types.map(DependencyRulesTest::outermost).map(JavaClass::getName).collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isBad(JavaClass type) {
        return outermost(type).getSimpleName().startsWith("Bad");
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(DependencyRulesTest::outermost).orElse(type);
    }
}
