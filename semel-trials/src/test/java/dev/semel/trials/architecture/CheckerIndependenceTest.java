package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checker of the chaos trial does not use the engine: a shared bug would hide itself. */
class CheckerIndependenceTest {
    private static final String CHECKERS = "dev.semel.trials.chaos.checks";

    @Test
    void the_chaos_checker_uses_no_class_of_the_engine() {
        JavaClasses checkers = new ClassFileImporter().importPackages(CHECKERS);
        assertFalse(checkers.isEmpty(), "no class was checked");
        assertEquals(Set.of(), links(checkers, CHECKERS));
    }

    @Test
    void a_checker_that_uses_the_engine_is_reported(@TempDir Path folder) {
        JavaClasses checkers = DependencyFixtures.compile(folder).classes("checkers");
        String own = DependencyFixtures.layout("checkers").base();
        assertEquals(Set.of(own + ".BadChecker uses dev.semel.run.RunId"), links(checkers, own));
    }

    private static Set<String> links(JavaClasses classes, String own) {
        Set<String> links = new TreeSet<>();
        for (JavaClass type : classes) {
            type.getDirectDependenciesFromSelf().forEach(link -> {
                String target = link.getTargetClass().getBaseComponentType().getName();
                if (target.startsWith("dev.semel.") && !target.startsWith(own + ".")) {
                    links.add(type.getName() + " uses " + target);
                }
            });
        }
        return links;
    }
}
