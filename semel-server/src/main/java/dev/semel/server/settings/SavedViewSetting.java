package dev.semel.server.settings;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run filter that a user saved under a name.
 *
 * @param filter in the syntax of the run list, such as `status:failed since:24h`
 * @param owner the user; null if shared with the workspace
 */
public record SavedViewSetting(String filter, @Nullable String owner) {
    static final int LARGEST = 4 << 10;

    static SavedViewSetting read(JsonNode node) {
        SettingDocumentReader document = SettingDocumentReader.of(node);
        String filter = document.line("filter", 500);
        String owner = document.optionalLine("owner", 100);
        document.rejectUnknownMembers();
        document.throwIfInvalid("view");
        return new SavedViewSetting(filter, owner);
    }
}
