package dev.semel.server.settings;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run filter that a user saved under a name.
 *
 * @param filter in the syntax of the run list, such as `status:failed since:24h`
 * @param owner the user; null if shared with the workspace
 */
public record ViewSetting(String filter, @Nullable String owner) {
    static final int LARGEST = 4 << 10;

    static ViewSetting read(JsonNode node) {
        Document document = Document.of(node);
        String filter = document.line("filter", 500);
        String owner = document.maybeLine("owner", 100);
        document.end();
        document.refuseWhatIsWrong("view");
        return new ViewSetting(filter, owner);
    }
}
