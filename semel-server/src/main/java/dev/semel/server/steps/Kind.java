package dev.semel.server.steps;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One kind of step: reads it from a file and says what is wrong with it. */
interface Kind {
    /** The field of a step that makes it one of this kind. */
    String word();

    /** Fields that stand beside that one, other than `id`, `when` and `on_error`. */
    Set<String> fields();

    /** Null where it is wrong; the problems say why. */
    @Nullable
    Act read(Draft draft);
}
