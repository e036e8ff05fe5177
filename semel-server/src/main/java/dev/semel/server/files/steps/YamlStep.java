package dev.semel.server.files.steps;

import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.YamlValueTemplate;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One compiled step of a workflow file.
 *
 * @param kind name of its kind in the file, e.g. `http`
 * @param when the condition; null for a step that always runs
 * @param recordedValues time and random values that it reads: `@now`, `@uuid`, `@random`
 */
public record YamlStep(
        String id,
        String kind,
        @Nullable YamlValueTemplate when,
        ErrorPolicy onError,
        CompiledYamlStepAction action,
        Set<String> recordedValues) {
    /** What happens to the run when the step fails permanently. */
    public enum ErrorPolicy {
        FAIL,
        /** The result has `error: {code, message}` and the next step runs. */
        CONTINUE
    }

    public YamlStep {
        recordedValues = Set.copyOf(recordedValues);
    }

    /** The same step with the time and random values that it reads. */
    public YamlStep withRecordedValues() {
        Set<String> found = Stream.concat(Stream.ofNullable(when), action.templates())
                .flatMap(YamlValueTemplate::readPaths)
                .map(ExpressionFieldPath::root)
                .filter(root -> root.startsWith("@"))
                .collect(Collectors.toUnmodifiableSet());
        return new YamlStep(id, kind, when, onError, action, found);
    }

    /** This step and all nested steps, in the order of the file. */
    public Stream<YamlStep> withNested() {
        return Stream.concat(Stream.of(this), action.nestedSteps().stream().flatMap(YamlStep::withNested));
    }

    /** All templates of this step and its nested steps. */
    public Stream<YamlValueTemplate> templates() {
        return withNested()
                .flatMap(step -> Stream.concat(
                        Stream.ofNullable(step.when()), step.action().templates()));
    }
}
