package dev.semel.server.settings;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A filter of runs that is kept under a name.
 *
 * @param filter in the words of the list of runs, such as `status:failed since:24h`
 * @param owner whose it is; null where everybody of the workspace is shown it
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
