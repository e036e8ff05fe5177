package dev.semel.server.files.steps;

import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One kind of step of the workflow language, such as `http` or `sleep`.
 *
 * @param name the field that selects this kind
 * @param fields further fields of this kind, other than `id`, `when` and `on_error`
 * @param reader reads and validates the fields; returns null if the step is invalid, and the problems have the reason
 */
public record YamlStepKind(
        String name, Set<String> fields, Function<YamlStepReadContext, @Nullable CompiledYamlStepAction> reader) {
    public YamlStepKind(String name, Function<YamlStepReadContext, @Nullable CompiledYamlStepAction> reader) {
        this(name, Set.of(), reader);
    }
}
