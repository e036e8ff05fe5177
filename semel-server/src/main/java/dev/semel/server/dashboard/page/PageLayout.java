package dev.semel.server.dashboard.page;

import dev.semel.server.access.SignedInUser;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The data that the layout template shows around every page.
 *
 * @param section the current navigation entry; may be empty
 * @param theme light, dark or system
 * @param message the message that confirms the last form; may be empty
 * @param openReviews the number of open reviews; 0 for users who may not see them
 * @param formKeys generates the idempotency key of a form, so that a double click is one action
 */
public record PageLayout(
        String title,
        String section,
        @Nullable SignedInUser user,
        String theme,
        String message,
        DashboardStaticAssets assets,
        Instant now,
        List<DashboardNavigation.Group> nav,
        long openReviews,
        Supplier<String> formKeys) {

    public String workspace() {
        return user == null ? "" : user.principal().workspaceName();
    }

    public String csrf() {
        return user == null ? "" : user.csrf();
    }

    public String newFormKey() {
        return formKeys.get();
    }

    public String userName() {
        return user == null ? "" : user.name();
    }

    public String role() {
        return user == null ? "" : user.role();
    }
}
