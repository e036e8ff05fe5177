package dev.semel.trials.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * One thing that a class reaches for: a type it names in any way, or a method or constructor it calls or refers to.
 *
 * @param member the method, {@code <init>} for a constructor, empty where only the type is named
 */
record Dependency(JavaClass type, String member, List<String> parameters, String description) {

    static Stream<Dependency> of(JavaClass origin) {
        Stream<Dependency> types = origin.getDirectDependenciesFromSelf().stream()
                .map(use -> new Dependency(bare(use.getTargetClass()), "", List.of(), use.getDescription()));
        Stream<Dependency> calls = origin.getCodeUnitAccessesFromSelf().stream()
                .map(access -> new Dependency(
                        access.getTargetOwner(),
                        access.getName(),
                        access.getTarget().getRawParameterTypes().stream()
                                .map(JavaClass::getName)
                                .toList(),
                        access.getDescription()));
        Stream<Dependency> monitors = origin.getMethods().stream()
                .filter(method -> method.getModifiers().contains(JavaModifier.SYNCHRONIZED))
                .map(method -> new Dependency(origin, "synchronized", List.of(), method.getDescription()));
        return Stream.of(types, calls, monitors).flatMap(touches -> touches);
    }

    /** Any use of a type in one of these packages or below. */
    static Predicate<Dependency> packages(String... names) {
        return touch -> Stream.of(names).anyMatch(name -> {
            String place = touch.type.getPackageName();
            return place.equals(name) || place.startsWith(name + ".");
        });
    }

    /** Any use of these types, or of types nested in them. */
    static Predicate<Dependency> types(String... names) {
        return touch -> Stream.of(names)
                .anyMatch(name -> touch.type.getName().equals(name)
                        || touch.type.getName().startsWith(name + "$"));
    }

    /** A call of, or a reference to, one of these, each written {@code java.lang.Math.random}. */
    static Predicate<Dependency> calls(String... names) {
        return touch -> Stream.of(names).anyMatch(name -> name.equals(touch.type.getName() + "." + touch.member));
    }

    /** A call of a method by its name alone, whatever type offers it. */
    static Predicate<Dependency> member(String... names) {
        return touch -> List.of(names).contains(touch.member);
    }

    /** A type for which the predicate holds. */
    static Predicate<Dependency> type(Predicate<JavaClass> wanted) {
        return touch -> wanted.test(touch.type);
    }

    boolean takes(String parameter) {
        return parameters.contains(parameter);
    }

    private static JavaClass bare(JavaClass type) {
        return type.getBaseComponentType();
    }
}
