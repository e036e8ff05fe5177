package dev.semel.trials.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.function.Predicate;

/**
 * A wall around a room: what the classes inside may not touch, and what they use instead.
 *
 * @param name also the name of the fixture that breaks it
 * @param advice the rule and the replacement, for the one who meets it
 */
record DependencyRule(String name, Predicate<JavaClass> inside, Predicate<Dependency> banned, String advice) {

    /** The classes this wall is about. A wall around nothing guards nothing. */
    List<JavaClass> subjects(JavaClasses classes) {
        return classes.stream()
                .filter(inside)
                .filter(type -> !type.getSimpleName().equals("package-info"))
                .toList();
    }

    ArchRule rule() {
        return classes()
                .that(DescribedPredicate.describe("stand behind " + name, inside))
                .should(new ArchCondition<JavaClass>("keep this wall: " + advice) {
                    @Override
                    public void check(JavaClass type, ConditionEvents events) {
                        Dependency.of(type)
                                .filter(banned)
                                .map(Dependency::description)
                                .distinct()
                                .forEach(found -> events.add(SimpleConditionEvent.violated(type, found)));
                    }
                })
                .allowEmptyShould(true);
    }
}
