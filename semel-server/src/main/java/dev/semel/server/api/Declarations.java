package dev.semel.server.api;

import dev.semel.server.definition.Definition;
import dev.semel.server.steps.Declared;
import dev.semel.server.steps.FileStep;
import dev.semel.workflow.Expected;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a file says beforehand of its runs: every effect, call and wait, with its place in their records. */
final class Declarations {
    private static final Set<String> MESSAGES = Set.of("send", "digest", "event");

    private final List<Expected> all = new ArrayList<>();

    private Declarations() {}

    static List<Expected> of(Definition definition) {
        Declarations declarations = new Declarations();
        definition.outerSteps().forEach(step -> declarations.add(step, new Expected.Place("", true, false, "")));
        return List.copyOf(declarations.all);
    }

    /** @param scope the steps around it, as they stand before its name in a path */
    private void add(FileStep step, Expected.Place scope) {
        // A message may take several channels, others than before, or none.
        boolean many = scope.loops() || MESSAGES.contains(step.kind());
        boolean certain = scope.certain() && step.when() == null;
        // An event has an effect for each channel that it takes.
        String path = scope.path() + step.id() + (step.kind().equals("event") ? "." : "");
        Expected one = declared(step, new Expected.Place(path, certain && !many, many, scope.items()));
        if (one != null) {
            all.add(one);
        }
        boolean loops = scope.loops() || step.kind().equals("for_each");
        boolean inside = certain && !many && step.kind().equals("parallel");
        String items =
                scope.items() + (step.kind().equals("for_each") ? step.act().identity() + "\n" : "");
        step.act().branches().forEach((branch, steps) -> {
            String name = branch.isEmpty() ? scope.path() : scope.path() + step.id() + branch;
            steps.forEach(each -> add(each, new Expected.Place(name, inside, loops, items)));
        });
    }

    private static @Nullable Expected declared(FileStep step, Expected.Place place) {
        Declared effect = step.act().effect();
        if (effect != null) {
            String kind = effect.protection().equals("tx") ? "tx" : "effect";
            return new Expected(place, kind, effect.protection(), identity(effect), effect.window() != null);
        }
        String calls = step.act().calls();
        if (calls != null) {
            return new Expected(place, "call", calls, calls + "\n" + step.act().identity());
        }
        return switch (step.kind()) {
            case "wait_for", "wait_for_reply" -> new Expected(place, "await", "", "");
            case "approval" -> new Expected(place, "approval", "", "");
            default -> null;
        };
    }

    /** What decides whether it is sent again, and under which key. */
    private static String identity(Declared effect) {
        return String.join(
                "\n",
                effect.protection(),
                Objects.toString(effect.key(), ""),
                Objects.toString(effect.window(), ""),
                Objects.toString(effect.providerWindow(), ""));
    }
}
