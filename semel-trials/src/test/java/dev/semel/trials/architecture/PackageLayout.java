package dev.semel.trials.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.function.Predicate;

/**
 * Packages relative to a base package: {@code dev.semel} for the codebase, or the package of a fixture. The rules name
 * relative packages, so the same rule checks both.
 */
record PackageLayout(String base) {
    static final PackageLayout REAL = new PackageLayout("dev.semel");

    /** Packages without side effects. */
    static final List<String> PURE = List.of(
            "idempotency",
            "admission",
            "definition",
            "run",
            "effect",
            "journal",
            "json",
            "error",
            "policy",
            "workflow",
            "schedule",
            "replay");

    /** The class that provides the clock, new ids, randomness and virtual threads. */
    static final String ENVIRONMENT = "engine.ClockAndRandomSource";

    /** In one of these packages or below. {@code ""} is exactly the base package. */
    Predicate<JavaClass> in(List<String> packages) {
        return type -> packages.stream().anyMatch(name -> contains(name, type));
    }

    Predicate<JavaClass> in(String... packages) {
        return in(List.of(packages));
    }

    /** In exactly this package. */
    Predicate<JavaClass> exactly(String name) {
        return type -> type.getPackageName().equals(absolute(name));
    }

    /** Below the base package. */
    Predicate<JavaClass> ours() {
        return type -> within(base, type);
    }

    /** The library: everything except the server. */
    Predicate<JavaClass> core() {
        return ours().and(in("server").negate());
    }

    /** A top-level class and the classes nested in it. */
    Predicate<JavaClass> file(String name) {
        return type -> type.getName().equals(absolute(name)) || type.getName().startsWith(absolute(name) + "$");
    }

    private boolean contains(String name, JavaClass type) {
        return name.isEmpty() ? type.getPackageName().equals(base) : within(absolute(name), type);
    }

    private String absolute(String name) {
        return name.isEmpty() ? base : base + "." + name;
    }

    private static boolean within(String root, JavaClass type) {
        String name = type.getPackageName();
        return name.equals(root) || name.startsWith(root + ".");
    }

    /** The package of a class, or the package for users that its package implements. */
    String implementedPackage(JavaClass type) {
        if (exactly("definition").test(type)) {
            return absolute("workflow");
        }
        return exactly("runtime").test(type) ? base : type.getPackageName();
    }
}
