package dev.semel.server.http;

import java.util.List;
import java.util.function.Function;

/**
 * Checks the headers of an authorized request before the server reads its body. A thrown
 * {@link dev.semel.error.SemelException} becomes the response, and the body is not read.
 */
@FunctionalInterface
public interface HeaderCheck {
    /** Accepts all headers. */
    HeaderCheck NONE = _ -> {};

    /** @param lines every line of a header by its name, as {@link HttpRequest#headerLines} gives them */
    void check(Function<String, List<String>> lines);
}
