package dev.semel.server.settings;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param filter in the syntax of the run list, such as `status:failed since:24h`
 * @param owner the user; null if shared with the workspace
 */
public record SavedRunFilterSetting(String filter, @Nullable String owner) {
    static final int LARGEST = 4 << 10;

    static SavedRunFilterSetting read(JsonNode node) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        String filter = document.line("filter", 500);
        String owner = document.optionalLine("owner", 100);
        return document.finish("view", new SavedRunFilterSetting(filter, owner));
    }
}
