package dev.semel.trials.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * One dependency of a class: a type it names, or a method or constructor it calls or references.
 *
 * @param member the method, {@code <init>} for a constructor, empty where only the type is named
 */
record Dependency(JavaClass type, String member, List<String> parameters, String description) {

    static Stream<Dependency> of(JavaClass origin) {
        Stream<Dependency> types = origin.getDirectDependenciesFromSelf().stream()
                .map(use -> new Dependency(componentType(use.getTargetClass()), "", List.of(), use.getDescription()));
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
        return Stream.of(types, calls, monitors).flatMap(dependencies -> dependencies);
    }

    /** Any use of a type in one of these packages or below. */
    static Predicate<Dependency> packages(String... names) {
        return dependency -> Stream.of(names).anyMatch(name -> {
            String actual = dependency.type.getPackageName();
            return actual.equals(name) || actual.startsWith(name + ".");
        });
    }

    /** Any use of these types, or of types nested in them. */
    static Predicate<Dependency> types(String... names) {
        return dependency -> Stream.of(names)
                .anyMatch(name -> dependency.type.getName().equals(name)
                        || dependency.type.getName().startsWith(name + "$"));
    }

    /** A call of, or a reference to, one of these methods, each written {@code java.lang.Math.random}. */
    static Predicate<Dependency> calls(String... names) {
        return dependency ->
                Stream.of(names).anyMatch(name -> name.equals(dependency.type.getName() + "." + dependency.member));
    }

    /** A call of a method with one of these names, on any type. */
    static Predicate<Dependency> member(String... names) {
        return dependency -> List.of(names).contains(dependency.member);
    }

    /** Any use of a type that matches the predicate. */
    static Predicate<Dependency> type(Predicate<JavaClass> wanted) {
        return dependency -> wanted.test(dependency.type);
    }

    boolean takes(String parameter) {
        return parameters.contains(parameter);
    }

    private static JavaClass componentType(JavaClass type) {
        return type.getBaseComponentType();
    }
}
