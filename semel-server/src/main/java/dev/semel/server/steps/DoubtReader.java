package dev.semel.server.steps;

import dev.semel.error.SemelException;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Template;
import dev.semel.workflow.Asking;
import dev.semel.workflow.Urgency;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Reads `on_doubt: {review: {to, title, link, due, …}}`: the review that opens when the outcome of an effect is
 * unknown.
 */
final class DoubtReader {
    private DoubtReader() {}

    /** The declared review; its texts are evaluated when the review opens. */
    record Question(
            String to, @Nullable Template title, @Nullable Template link, Urgency urgency) {
        Asking filled(Play context) {
            return new Asking(to, text(context, title), text(context, link), urgency);
        }

        /** A text that fails to evaluate is omitted: it must not prevent the effect itself. */
        private static String text(Play context, @Nullable Template template) {
            try {
                JsonNode value = template == null ? null : context.fill(template);
                return value == null ? "" : value.asString("");
            } catch (SemelException e) {
                return "";
            }
        }

        Stream<Template> templates() {
            return Stream.of(title, link).flatMap(Stream::ofNullable);
        }
    }

    /** Null if the file has no `on_doubt`. */
    static @Nullable Question read(Draft draft) {
        Fields doubt = draft.section("on_doubt");
        Fields review = doubt == null
                ? null
                : Fields.of(doubt.allow(Set.of("review"), Set.of()).get("review"), "review", draft.problems());
        if (review == null) {
            return null;
        }
        Set<String> known = new HashSet<>(Urgencies.FIELDS);
        known.addAll(Set.of("to", "title", "link", "answers", "if_nobody_answers"));
        review.allow(known, Set.of());
        Template title = draft.template(review, "title");
        Template link = draft.template(review, "link");
        String idle = review.text("if_nobody_answers");
        if (idle != null && !idle.equals("hold")) {
            draft.wrong(
                    review.spotOfValue("if_nobody_answers"),
                    "if_nobody_answers must be hold: the run waits until a user decides.");
        }
        String to = review.text("to");
        return new Question(to == null ? "" : to, title, link, Urgencies.read(draft, review));
    }
}
