package dev.semel.server.operations;

import dev.semel.definition.DeclaredStep;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.YamlStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Lists the effects, calls and waits that a workflow file declares, each with its path in the journal. */
final class YamlDeclaredStepCollector {
    private static final Set<String> MESSAGES = Set.of("send", "digest", "notify");

    private final List<DeclaredStep> all = new ArrayList<>();

    private YamlDeclaredStepCollector() {}

    static List<DeclaredStep> of(WorkflowDefinition definition) {
        YamlDeclaredStepCollector declarations = new YamlDeclaredStepCollector();
        definition
                .topLevelSteps()
                .forEach(step -> declarations.add(step, new DeclaredStep.StepLocation("", true, false, "")));
        return List.copyOf(declarations.all);
    }

    /** @param scope the enclosing steps, as the prefix of the step's path */
    private void add(YamlStep step, DeclaredStep.StepLocation scope) {
        // A message may use several channels, different ones in each run, or none.
        boolean many = scope.inLoop() || MESSAGES.contains(step.kind());
        boolean certain = scope.always() && step.when() == null;
        // A notification has one effect per channel.
        String path = scope.path() + step.id() + (step.kind().equals("notify") ? "." : "");
        DeclaredStep one =
                declared(step, new DeclaredStep.StepLocation(path, certain && !many, many, scope.itemKeys()));
        if (one != null) {
            all.add(one);
        }
        boolean loops = scope.inLoop() || step.kind().equals("for_each");
        boolean inside = certain && !many && step.kind().equals("parallel");
        String items = scope.itemKeys()
                + (step.kind().equals("for_each") ? step.action().identity() + "\n" : "");
        step.action().branches().forEach((branch, steps) -> {
            String name = branch.isEmpty() ? scope.path() : scope.path() + step.id() + branch;
            steps.forEach(each -> add(each, new DeclaredStep.StepLocation(name, inside, loops, items)));
        });
    }

    private static @Nullable DeclaredStep declared(YamlStep step, DeclaredStep.StepLocation stepLocation) {
        DeclaredEffect effect = step.action().declaredEffect();
        if (effect != null) {
            String kind = effect.protection().equals("tx") ? "tx" : "effect";
            boolean across = effect.window() != null;
            return new DeclaredStep(stepLocation, kind, effect.protection(), identity(effect), effect.does(), across);
        }
        String calls = step.action().calledWorkflow();
        if (calls != null) {
            return new DeclaredStep(
                    stepLocation, "call", calls, calls + "\n" + step.action().identity());
        }
        return switch (step.kind()) {
            case "wait_for", "wait_for_reply" -> new DeclaredStep(stepLocation, "await", "", "");
            case "approval" -> new DeclaredStep(stepLocation, "approval", "", "");
            default -> null;
        };
    }

    /** The settings that decide whether the effect is sent again, and with which key. */
    private static String identity(DeclaredEffect effect) {
        return String.join(
                "\n",
                effect.protection(),
                Objects.toString(effect.key(), ""),
                Objects.toString(effect.window(), ""),
                Objects.toString(effect.providerWindow(), ""));
    }
}
