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

/** Reads `on_doubt: {review: {to, title, link, due, …}}`: what people are asked when an outcome is not known. */
final class DoubtReader {
    private DoubtReader() {}

    /** The question as the file says it; its texts are filled when it is asked. */
    record Question(
            String to, @Nullable Template title, @Nullable Template link, Urgency urgency) {
        Asking filled(Play play) {
            return new Asking(to, text(play, title), text(play, link), urgency);
        }

        /** A text that cannot be made is left out: it must not keep the deed itself from being done. */
        private static String text(Play play, @Nullable Template template) {
            try {
                JsonNode value = template == null ? null : play.fill(template);
                return value == null ? "" : value.asString("");
            } catch (SemelException e) {
                return "";
            }
        }

        Stream<Template> templates() {
            return Stream.of(title, link).flatMap(Stream::ofNullable);
        }
    }

    /** Null where the file says nothing. */
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
                    "if_nobody_answers is hold: nothing is sent, and nothing ends, unless somebody says so.");
        }
        String to = review.text("to");
        return new Question(to == null ? "" : to, title, link, Urgencies.read(draft, review));
    }
}
