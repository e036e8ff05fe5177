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

/** Lists the effects, calls and waits that a workflow file declares, each with its path in the journal. */
final class Declarations {
    private static final Set<String> MESSAGES = Set.of("send", "digest", "event");

    private final List<Expected> all = new ArrayList<>();

    private Declarations() {}

    static List<Expected> of(Definition definition) {
        Declarations declarations = new Declarations();
        definition.outerSteps().forEach(step -> declarations.add(step, new Expected.Place("", true, false, "")));
        return List.copyOf(declarations.all);
    }

    /** @param scope the enclosing steps, as the prefix of the step's path */
    private void add(FileStep step, Expected.Place scope) {
        // A message may use several channels, different ones in each run, or none.
        boolean many = scope.loops() || MESSAGES.contains(step.kind());
        boolean certain = scope.certain() && step.when() == null;
        // A notification has one effect per channel.
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
            boolean across = effect.window() != null;
            return new Expected(place, kind, effect.protection(), identity(effect), effect.does(), across);
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

    /** The settings that decide whether the effect is sent again, and with which key. */
    private static String identity(Declared effect) {
        return String.join(
                "\n",
                effect.protection(),
                Objects.toString(effect.key(), ""),
                Objects.toString(effect.window(), ""),
                Objects.toString(effect.providerWindow(), ""));
    }
}
