package dev.semel.server.api;

import dev.semel.store.ReviewOperation;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The filter of `GET /v1/reviews`: `kind:in_doubt workflow:NAME to:role:ops state:decided`. */
record ReviewFilter(
        ReviewOperation.@Nullable ReviewKind kind,
        @Nullable String workflow,
        @Nullable String to,
        boolean decided) {
    private static final String WORDS = "q accepts terms such as kind:in_doubt workflow:NAME to:role:ops state:decided";

    static ReviewFilter parse(@Nullable String text) {
        Map<String, String> terms = FilterParser.parse(text, Set.of("kind", "workflow", "to", "state"), WORDS);
        ReviewOperation.ReviewKind kind = kindOf(terms.get("kind"));
        String workflow = terms.get("workflow");
        String to = terms.get("to");
        boolean decided = isDecided(terms.getOrDefault("state", "open"));
        if (decided && (kind != null || workflow != null || to != null)) {
            throw PagingParameters.invalidQuery(
                    "state:decided cannot be combined: decided reviews are listed by time only");
        }
        return new ReviewFilter(kind, workflow, to, decided);
    }

    private static ReviewOperation.@Nullable ReviewKind kindOf(@Nullable String word) {
        ReviewOperation.ReviewKind kind = word == null ? null : ReviewViews.parseKind(word);
        if (word != null && kind == null) {
            throw PagingParameters.invalidQuery("kind must be one of in_doubt, changed, approval, held");
        }
        return kind;
    }

    private static boolean isDecided(String word) {
        if (!word.equals("open") && !word.equals("decided")) {
            throw PagingParameters.invalidQuery("state must be open or decided");
        }
        return word.equals("decided");
    }
}
