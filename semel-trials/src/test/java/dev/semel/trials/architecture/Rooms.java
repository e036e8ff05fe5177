package dev.semel.trials.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.List;
import java.util.function.Predicate;

/**
 * The rooms of the house below a base package: {@code dev.semel} for the real one, a fixture's package for a model of
 * it. The rules only speak of rooms, so that the same rule can be pointed at both.
 */
record Rooms(String base) {
    static final Rooms REAL = new Rooms("dev.semel");

    /** Rooms that decide and never act. */
    static final List<String> PURE =
            List.of(
                    "admission", "definition", "run", "effect", "journal", "json", "error", "workflow", "trigger", "schedule",
                    "replay");

    /** The file where the real clock, new ids, randomness and virtual threads come from. */
    static final String AMBIENT = "engine.Ambient";

    /** The room itself, or any of them, with the rooms below. {@code ""} is the top: exactly the base package. */
    Predicate<JavaClass> in(List<String> rooms) {
        return type -> rooms.stream().anyMatch(room -> holds(room, type));
    }

    Predicate<JavaClass> in(String... rooms) {
        return in(List.of(rooms));
    }

    /** Exactly this package, without the rooms below. */
    Predicate<JavaClass> exactly(String room) {
        return type -> type.getPackageName().equals(packageOf(room));
    }

    /** Anything of ours. */
    Predicate<JavaClass> ours() {
        return type -> within(base, type);
    }

    /** The library: everything of ours but the server. */
    Predicate<JavaClass> core() {
        return ours().and(in("server").negate());
    }

    /** One source file by its class, with the classes nested in it. */
    Predicate<JavaClass> file(String name) {
        return type -> type.getName().equals(packageOf(name)) || type.getName().startsWith(packageOf(name) + "$");
    }

    private boolean holds(String room, JavaClass type) {
        return room.isEmpty() ? type.getPackageName().equals(base) : within(packageOf(room), type);
    }

    private String packageOf(String room) {
        return room.isEmpty() ? base : base + "." + room;
    }

    private static boolean within(String root, JavaClass type) {
        String name = type.getPackageName();
        return name.equals(root) || name.startsWith(root + ".");
    }
}
