package dev.semel.server.http;

import java.util.List;
import java.util.function.Function;

/** Checks an authorized request before its body is read. A {@link dev.semel.error.SemelException} is the response. */
@FunctionalInterface
public interface InboundRequestHeaderCheck {
    InboundRequestHeaderCheck NONE = _ -> {};

    /** @param lines every line of a header by its name, as {@link ServerHttpRequest#headerLines} gives them */
    void check(Function<String, List<String>> lines);
}
