package dev.semel.server.steps;

import dev.semel.server.language.Expression;
import dev.semel.server.language.Template;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One step of a file.
 *
 * @param kind the word that names it in the file, e.g. `http`
 * @param when the condition; null for a step that always runs
 * @param recorded what it reads of time and chance: `@now`, `@uuid`, `@random`
 */
public record FileStep(
        String id, String kind, @Nullable Template when, OnError onError, Act act, Set<String> recorded) {
    /** What becomes of the run when the step fails for good. */
    public enum OnError {
        FAIL,
        /** The result says `error: {code, message}` and the next step runs. */
        CONTINUE
    }

    public FileStep {
        recorded = Set.copyOf(recorded);
    }

    /** The same, knowing what it reads of time and chance. */
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

    /** This step and all inside, in the order of the file. */
    public Stream<FileStep> all() {
        return Stream.concat(Stream.of(this), act.inner().stream().flatMap(FileStep::all));
    }

    /** Every template of this step and of those inside. */
    public Stream<Template> templates() {
        return all().flatMap(step ->
                Stream.concat(Stream.ofNullable(step.when()), step.act().templates()));
    }
}
