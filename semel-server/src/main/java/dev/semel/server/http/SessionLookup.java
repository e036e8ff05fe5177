package dev.semel.server.http;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the caller of an open route by a session, before the body is read. It only selects the memory limit for the
 * body: the handler still checks the session.
 */
@FunctionalInterface
public interface SessionLookup {
    SessionLookup NONE = _ -> null;

    /**
     * @param lines every line of a header by its name
     * @return null without a valid session
     */
    @Nullable
    Principal find(Function<String, List<String>> lines);
}
