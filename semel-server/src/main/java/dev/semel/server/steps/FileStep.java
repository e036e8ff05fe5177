package dev.semel.server.steps;

import dev.semel.server.language.Expression;
import dev.semel.server.language.Template;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One compiled step of a workflow file.
 *
 * @param kind name of its kind in the file, e.g. `http`
 * @param when the condition; null for a step that always runs
 * @param recorded time and random values that it reads: `@now`, `@uuid`, `@random`
 */
public record FileStep(
        String id, String kind, @Nullable Template when, OnError onError, Act act, Set<String> recorded) {
    /** What happens to the run when the step fails permanently. */
    public enum OnError {
        FAIL,
        /** The result has `error: {code, message}` and the next step runs. */
        CONTINUE
    }

    public FileStep {
        recorded = Set.copyOf(recorded);
    }

    /** The same step with the time and random values that it reads. */
    FileStep checked() {
        Set<String> found = Stream.concat(Stream.ofNullable(when), act.templates())
                .flatMap(Template::expressions)
                .flatMap(FileStep::chances)
                .collect(Collectors.toUnmodifiableSet());
        return new FileStep(id, kind, when, onError, act, found);
    }

    private static Stream<String> chances(Expression expression) {
        return expression.reads().stream().map(path -> path.root()).filter(root -> root.startsWith("@"));
    }

    /** This step and all nested steps, in the order of the file. */
    public Stream<FileStep> all() {
        return Stream.concat(Stream.of(this), act.inner().stream().flatMap(FileStep::all));
    }

    /** All templates of this step and its nested steps. */
    public Stream<Template> templates() {
        return all().flatMap(step ->
                Stream.concat(Stream.ofNullable(step.when()), step.act().templates()));
    }
}
