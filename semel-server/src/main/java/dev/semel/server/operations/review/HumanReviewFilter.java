package dev.semel.server.operations.review;

import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.HumanReviewJsonRenderer;
import dev.semel.store.HumanReviewStoreWriteCommand;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The filter of `GET /v1/reviews`: `kind:in_doubt workflow:NAME to:role:ops state:decided`. */
record HumanReviewFilter(
        HumanReviewStoreWriteCommand.@Nullable ReviewKind kind,
        @Nullable String workflow,
        @Nullable String to,
        boolean decided) {
    private static final String WORDS = "q accepts terms such as kind:in_doubt workflow:NAME to:role:ops state:decided";

    static HumanReviewFilter parse(@Nullable String text) {
        Map<String, String> terms = ApiListFilterParser.parse(text, Set.of("kind", "workflow", "to", "state"), WORDS);
        HumanReviewStoreWriteCommand.ReviewKind kind = kindOf(terms.get("kind"));
        String workflow = terms.get("workflow");
        String to = terms.get("to");
        boolean decided = isDecided(terms.getOrDefault("state", "open"));
        if (decided && (kind != null || workflow != null || to != null)) {
            throw ApiErrors.invalidQuery(
                    "state:decided cannot be combined with other terms, because the server lists decided reviews only"
                            + " by time");
        }
        return new HumanReviewFilter(kind, workflow, to, decided);
    }

    private static HumanReviewStoreWriteCommand.@Nullable ReviewKind kindOf(@Nullable String word) {
        HumanReviewStoreWriteCommand.ReviewKind kind = word == null ? null : HumanReviewJsonRenderer.parseKind(word);
        if (word != null && kind == null) {
            throw ApiErrors.invalidQuery("kind must be one of in_doubt, changed, approval, held");
        }
        return kind;
    }

    private static boolean isDecided(String word) {
        if (!word.equals("open") && !word.equals("decided")) {
            throw ApiErrors.invalidQuery("state must be open or decided");
        }
        return word.equals("decided");
    }
}
