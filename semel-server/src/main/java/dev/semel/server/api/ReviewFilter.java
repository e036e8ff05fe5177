package dev.semel.server.api;

import dev.semel.store.Review;
import org.jspecify.annotations.Nullable;

/** Which reviews are asked for: `kind:in_doubt workflow:NAME to:role:ops state:decided`. */
record ReviewFilter(
        Review.@Nullable Kind kind,
        @Nullable String workflow,
        @Nullable String to,
        boolean decided) {
    static ReviewFilter parse(@Nullable String text) {
        Review.Kind kind = null;
        String workflow = null;
        String to = null;
        boolean decided = false;
        for (String word :
                text == null || text.isBlank() ? new String[0] : text.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            String value = word.substring(colon + 1);
            switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                case "kind" -> kind = kindOf(value);
                case "workflow" -> workflow = value;
                case "to" -> to = value;
                case "state" -> decided = isDecided(value);
                default ->
                    throw Paging.refused("q takes words like kind:in_doubt workflow:NAME to:role:ops state:decided");
            }
        }
        if (decided && (kind != null || workflow != null || to != null)) {
            throw Paging.refused("state:decided stands alone: decided ones are listed by time only");
        }
        return new ReviewFilter(kind, workflow, to, decided);
    }

    private static Review.Kind kindOf(String word) {
        Review.Kind kind = ReviewViews.kind(word);
        if (kind == null) {
            throw Paging.refused("kind is one of in_doubt, changed, approval, held");
        }
        return kind;
    }

    private static boolean isDecided(String word) {
        if (!word.equals("open") && !word.equals("decided")) {
            throw Paging.refused("state is open or decided");
        }
        return word.equals("decided");
    }
}
