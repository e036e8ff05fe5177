package dev.semel.server.pages;

import dev.semel.server.auth.Visitor;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What stands around every page.
 *
 * @param section the entry of the navigation that is current; empty where none is
 * @param theme light, dark or system
 * @param did what the last form did, to be said once; empty where there was none
 * @param waiting how many reviews are open, as far as they are counted; 0 for those who may not see them
 * @param keys makes the key of a form, so that a double click is one deed
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

    /** A new key. */
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
