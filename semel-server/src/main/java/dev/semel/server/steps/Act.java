package dev.semel.server.steps;

import dev.semel.server.language.Template;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What one step does. Read and checked once, when the file is published; run by any number of runs. */
public interface Act {
    /**
     * Does it, on the durable operations of the run. What it asks of them must follow from the input and from recorded
     * results alone, because after a crash it is asked again.
     *
     * @return the result that later steps read as `steps.<id>`
     */
    JsonNode run(Play play) throws Exception;

    /** Every template of the step itself, for checks of what a file reads; those of steps inside are theirs. */
    Stream<Template> templates();

    /** The steps inside. */
    default List<FileStep> inner() {
        return List.of();
    }

    /** The same by the scope that they run in, as it stands behind the name of this step in a path; empty for its own. */
    default Map<String, List<FileStep>> branches() {
        return Map.of("", inner());
    }

    /** What names that which it starts or goes through, as it is written; empty where its place in the file does. */
    default String identity() {
        return "";
    }

    /** The workflow that it starts; null where it starts none. */
    default @Nullable String calls() {
        return null;
    }

    /** What it does to the outside world, in words; null where it does nothing there. */
    default @Nullable Declared effect() {
        return null;
    }

    /** What `idempotent.key` says; null where the step id is the key. */
    default @Nullable Template effectKey() {
        return null;
    }

    /** What it needs of the workspace it runs in. */
    default List<Need> needs() {
        return List.of();
    }

    /** What is compared inside a window that lets changed data through (`on_change: send`); nothing elsewhere. */
    default Stream<Template> compared() {
        return Stream.empty();
    }

    /** Whether a run comes past it only where a person has said yes. */
    default boolean asksLeave() {
        return false;
    }
}
