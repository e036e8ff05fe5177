package dev.semel.server.files.definition;

import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlStep;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Lint SEM-K08: finds effect windows that can never suppress a duplicate.
 *
 * <p>With `on_change: send`, different data is sent. Data that reads time, random values or the run itself differs in
 * every run, also if a `set` step passes it on.
 */
final class IdempotencyWindowLintRule {
    private final Map<String, YamlValueTemplate> sets = new HashMap<>();
    private final Map<ExpressionFieldPath, Optional<String>> known = new HashMap<>();

    private IdempotencyWindowLintRule() {}

    static List<String> warnings(List<YamlStep> steps) {
        var windows = new IdempotencyWindowLintRule();
        return steps.stream()
                .flatMap(YamlStep::withNested)
                .map(windows::warning)
                .flatMap(Stream::ofNullable)
                .toList();
    }

    private @Nullable String warning(YamlStep step) {
        if (step.kind().equals("set")) {
            step.action().templates().forEach(value -> sets.put(step.id(), value));
        }
        String cause = cause(step.action().comparedTemplates());
        return cause == null
                ? null
                : ("Step '%s': SEM-K08: the window of the step compares data that contains %s. This value differs in"
                      + " every run, so the window suppresses nothing. Remove the value, or set `on_change` to"
                      + " `suppress` or `review`.")
                        .formatted(step.id(), cause);
    }

    /** The expression that makes the data differ, as written; null if none is known. */
    private @Nullable String cause(Stream<YamlValueTemplate> templates) {
        return templates
                .flatMap(YamlValueTemplate::readPaths)
                .map(this::cause)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String cause(ExpressionFieldPath path) {
        if (path.root().startsWith("@")) {
            return path.root().substring(1) + "()";
        }
        if (path.root().equals("run")) {
            return path.toString();
        }
        if (!path.root().equals("steps") || path.parts().isEmpty()) {
            return null;
        }
        Optional<String> before = known.get(path);
        if (before != null) {
            return before.orElse(null);
        }
        YamlValueTemplate value = sets.get(path.parts().getFirst().toString());
        for (Object part : path.parts().subList(1, path.parts().size())) {
            // Another field of the same step may be the same in every run.
            value = value instanceof YamlValueTemplate.MapTemplate(Map<String, YamlValueTemplate> members)
                    ? members.get(part)
                    : value;
        }
        String inside = cause(Stream.ofNullable(value));
        String cause = inside == null ? null : inside.replaceFirst(" through .*", "") + " through " + path;
        known.put(path, Optional.ofNullable(cause));
        return cause;
    }
}
