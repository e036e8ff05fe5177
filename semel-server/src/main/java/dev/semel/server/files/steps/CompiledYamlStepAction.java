package dev.semel.server.files.steps;

import dev.semel.server.files.expressions.YamlValueTemplate;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The executable action of one step of a workflow file. Compiled once at publish, shared by all runs. */
public interface CompiledYamlStepAction {
    /**
     * Executes the step with the durable operations of the run. The calls it makes must follow only from the input and
     * recorded results, because the engine repeats them after a crash.
     *
     * @return the result that later steps read as `steps.<id>`
     */
    JsonNode run(YamlStepExecutionContext context) throws Exception;

    /** All templates of the step, without those of nested steps. */
    Stream<YamlValueTemplate> templates();

    default List<YamlStep> nestedSteps() {
        return List.of();
    }

    /**
     * The nested steps by the scope they run in, as it follows this step's name in a step path; empty for the step's
     * own scope.
     */
    default Map<String, List<YamlStep>> branches() {
        return Map.of("", nestedSteps());
    }

    /** The key expression of child run or loop items, as written; empty if the position in the file identifies them. */
    default String identity() {
        return "";
    }

    /** The workflow that it starts; null if none. */
    default @Nullable String calledWorkflow() {
        return null;
    }

    /** The declared effect on an external system; null if it has none. */
    default @Nullable DeclaredEffect declaredEffect() {
        return null;
    }

    /** The template of `idempotent.key`; null if the step id is the key. */
    default @Nullable YamlValueTemplate effectKey() {
        return null;
    }

    default List<NotificationChannelRequirement> channelRequirements() {
        return List.of();
    }

    /** The secrets that it sends to hosts which the file names. */
    default List<SentSecret> sentSecrets() {
        return List.of();
    }

    /** The templates whose values a window with `on_change: send` compares; otherwise empty. */
    default Stream<YamlValueTemplate> comparedTemplates() {
        return Stream.empty();
    }

    /** Whether a run continues after this step only if a user approved. */
    default boolean requiresApproval() {
        return false;
    }
}
