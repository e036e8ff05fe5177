package dev.semel.server.pages;

import dev.semel.server.auth.Visitor;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The data that the layout template shows around every page.
 *
 * @param section the current navigation entry; may be empty
 * @param theme light, dark or system
 * @param did the message that confirms the last form; may be empty
 * @param waiting the number of open reviews; 0 for users who may not see them
 * @param keys generates the idempotency key of a form, so that a double click is one action
 */
public record Frame(
        String title,
        String section,
        @Nullable Visitor visitor,
        String theme,
        String did,
        Assets assets,
        Instant now,
        List<Nav.Group> nav,
        long waiting,
        Supplier<String> keys) {

    public String workspace() {
        return visitor == null ? "" : visitor.principal().workspaceName();
    }

    public String csrf() {
        return visitor == null ? "" : visitor.csrf();
    }

    /** A new idempotency key for a form. */
    public String key() {
        return keys.get();
    }

    public String who() {
        return visitor == null ? "" : visitor.name();
    }

    public String role() {
        return visitor == null ? "" : visitor.role();
    }
}
