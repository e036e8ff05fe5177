package dev.semel.server.steps;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One kind of step of the workflow language, such as `http` or `sleep`: reads and validates its fields. */
interface StepKind {
    /** The field that selects this kind. */
    String name();

    /** Further fields of this kind, other than `id`, `when` and `on_error`. */
    Set<String> fields();

    /** Null if the step is invalid; the problems have the reason. */
    @Nullable
    YamlStepAction read(StepReadContext draft);
}
