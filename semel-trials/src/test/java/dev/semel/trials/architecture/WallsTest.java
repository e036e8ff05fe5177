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
 * Holds the real house against {@link Walls}, and each wall against its fixture. In a fixture every top-level class
 * named {@code Bad…} must be reported by its wall, and no other may be.
 */
class WallsTest {
    private static final JavaClasses REAL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar") && !location.contains("/dev/semel/trials/"))
            .importPackages(Rooms.REAL.base());

    static List<Wall> walls() {
        return new Walls(Rooms.REAL).all();
    }

    @ParameterizedTest
    @MethodSource("walls")
    void the_house_keeps_its_walls(Wall wall) {
        wall.rule().check(REAL);
    }

    @Test
    void no_room_needs_a_room_that_needs_it() {
        new Walls(Rooms.REAL).noCycles().check(REAL);
    }

    @Test
    void a_wall_around_nothing_needs_a_reason_and_a_reason_needs_an_empty_room() {
        List<String> wrong = new ArrayList<>();
        for (Wall wall : walls()) {
            boolean empty = wall.subjects(REAL).isEmpty();
            boolean excused = NotBuiltYet.WALLS.containsKey(wall.name());
            if (empty && !excused) {
                wrong.add(
                        "Wall " + wall.name() + " guards no class. Point it at the room's new name in Rooms or Walls.");
            }
            if (!empty && excused) {
                wrong.add("Room " + wall.name() + " is built. Take it off NotBuiltYet.WALLS.");
            }
        }
        Set<String> unknown = new TreeSet<>(NotBuiltYet.WALLS.keySet());
        unknown.removeAll(walls().stream().map(Wall::name).toList());
        unknown.forEach(name -> wrong.add("No wall is called " + name + ". Take it off NotBuiltYet.WALLS."));
        assertTrue(wrong.isEmpty(), () -> String.join("\n", wrong));
    }

    @ParameterizedTest
    @MethodSource("walls")
    void each_wall_reports_exactly_what_breaks_it(Wall real) {
        Rooms model = fixture(real.name());
        JavaClasses classes = new ClassFileImporter().importPackages(model.base());
        Wall wall = new Walls(model)
                .all().stream()
                        .filter(other -> other.name().equals(real.name()))
                        .findFirst()
                        .orElseThrow();
        Set<String> bad = names(classes.stream().filter(WallsTest::isBad));
        assertFalse(bad.isEmpty(), () -> "No fixture breaks the wall " + real.name() + " in " + model.base());
        assertEquals(bad, offenders(wall.rule().evaluate(classes)));
        boolean hasLawful = wall.subjects(classes).stream().anyMatch(type -> !isBad(type));
        assertTrue(hasLawful, () -> "No lawful class stands behind the wall " + real.name() + " in " + model.base());
    }

    @Test
    void two_rooms_that_need_each_other_are_reported() {
        Rooms model = fixture("cycles");
        JavaClasses classes = new ClassFileImporter().importPackages(model.base());
        List<String> cycles =
                new Walls(model).noCycles().evaluate(classes).getFailureReport().getDetails();
        assertEquals(1, cycles.size(), () -> String.join("\n", cycles));
        for (JavaClass type : classes) {
            assertEquals(isBad(type), cycles.getFirst().contains(type.getName()), type.getName());
        }
    }

    private static Rooms fixture(String name) {
        return new Rooms(WallsTest.class.getPackageName() + ".fixture." + name);
    }

    private static Set<String> offenders(EvaluationResult result) {
        List<JavaClass> found = new ArrayList<>();
        result.handleViolations((Collection<JavaClass> types, String message) -> found.addAll(types));
        return names(found.stream());
    }

    private static Set<String> names(Stream<JavaClass> types) {
        return types.map(WallsTest::outermost).map(JavaClass::getName).collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isBad(JavaClass type) {
        return outermost(type).getSimpleName().startsWith("Bad");
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(WallsTest::outermost).orElse(type);
    }
}
