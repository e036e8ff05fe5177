package dev.semel.server.http;

import java.util.List;
import java.util.function.Function;

/**
 * Looks at the header lines of a request whose caller may be here, before any of its body is read. A thrown
 * {@link dev.semel.error.SemelException} becomes the answer, and the body is not asked for.
 */
@FunctionalInterface
public interface HeadCheck {
    /** For a route that judges nothing before the body. */
    HeadCheck NONE = _ -> {};

    /** @param lines every line of a header by its name, as {@link Request#headerLines} gives them */
    void check(Function<String, List<String>> lines);
}
