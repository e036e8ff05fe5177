package dev.semel.server.definition;

import dev.semel.server.language.FieldRef;
import dev.semel.server.language.Template;
import dev.semel.server.steps.FileStep;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds windows that could never suppress anything: with `on_change: send` other data are sent, and data that read time,
 * chance or the run itself are other data in every run. Also where they come by way of a `set` step.
 */
final class IdleWindows {
    private final Map<String, Template> sets = new HashMap<>();
    private final Map<FieldRef, Optional<String>> known = new HashMap<>();

    private IdleWindows() {}

    /** One sentence for each of them. */
    static List<String> warnings(List<FileStep> steps) {
        var windows = new IdleWindows();
        return steps.stream()
                .flatMap(FileStep::all)
                .map(windows::warning)
                .flatMap(Stream::ofNullable)
                .toList();
    }

    private @Nullable String warning(FileStep step) {
        if (step.kind().equals("set")) {
            step.act().templates().forEach(value -> sets.put(step.id(), value));
        }
        String cause = cause(step.act().compared());
        return cause == null
                ? null
                : ("Step '%s': SEM-K08: what is compared inside its window reads %s, which differs in every run, so"
                                + " nothing would be suppressed. Take it out, or say on_change: suppress or review.")
                        .formatted(step.id(), cause);
    }

    /** What makes it differ, as an author writes it; null where nothing is known to. */
    private @Nullable String cause(Stream<Template> templates) {
        return templates
                .flatMap(Template::expressions)
                .flatMap(expression -> expression.reads().stream())
                .map(this::cause)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String cause(FieldRef path) {
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
        Template value = sets.get(path.parts().getFirst().toString());
        for (Object part : path.parts().subList(1, path.parts().size())) {
            // Another member of the same step may be the same in every run.
            value = value instanceof Template.Members(Map<String, Template> members) ? members.get(part) : value;
        }
        String inside = cause(Stream.ofNullable(value));
        String cause = inside == null ? null : inside.replaceFirst(" by way of .*", "") + " by way of " + path;
        known.put(path, Optional.ofNullable(cause));
        return cause;
    }
}
