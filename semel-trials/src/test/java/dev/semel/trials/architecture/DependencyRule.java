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
 * One dependency rule: which classes it covers, what they must not use, and what to use instead.
 *
 * @param name also the name of the fixture that breaks it
 * @param advice the rule and the replacement
 */
record DependencyRule(String name, Predicate<JavaClass> inside, Predicate<Dependency> banned, String advice) {

    /** The classes that the rule covers. A rule that covers no class checks nothing. */
    List<JavaClass> subjects(JavaClasses classes) {
        return classes.stream()
                .filter(inside)
                .filter(type -> !type.getSimpleName().equals("package-info"))
                .toList();
    }

    ArchRule rule() {
        return classes()
                .that(DescribedPredicate.describe("are covered by " + name, inside))
                .should(new ArchCondition<JavaClass>("follow this rule: " + advice) {
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
