package dev.semel.server.files.steps;

import dev.semel.error.SemelException;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.ReviewOptions;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads `on_doubt: {review: {…}}`: the review that opens when the outcome of an effect is unknown. */
final class YamlInDoubtEffectReviewReader {
    private YamlInDoubtEffectReviewReader() {}

    /** The declared review; its texts are evaluated when the review opens. */
    record ReviewTemplate(
            String to,
            @Nullable YamlValueTemplate title,
            @Nullable YamlValueTemplate link,
            EscalationPolicy urgency) {
        ReviewOptions evaluate(YamlStepExecutionContext context) {
            return new ReviewOptions(to, text(context, title), text(context, link), urgency);
        }

        /** A text that fails to evaluate is omitted: it must not prevent the effect itself. */
        private static String text(YamlStepExecutionContext context, @Nullable YamlValueTemplate template) {
            try {
                JsonNode value = template == null ? null : context.evaluate(template);
                return value == null ? "" : value.asString("");
            } catch (SemelException e) {
                return "";
            }
        }

        Stream<YamlValueTemplate> templates() {
            return Stream.of(title, link).flatMap(Stream::ofNullable);
        }
    }

    /** Null if the file has no `on_doubt`. */
    static @Nullable ReviewTemplate read(YamlStepReadContext draft) {
        YamlMapReader doubt = draft.section("on_doubt");
        YamlMapReader review = doubt == null
                ? null
                : YamlMapReader.of(doubt.allowOnly(Set.of("review")).get("review"), "review", draft.problems());
        if (review == null) {
            return null;
        }
        Set<String> known = new HashSet<>(YamlEscalationPolicyReader.FIELDS);
        known.addAll(Set.of("to", "title", "link", "answers", "if_nobody_answers"));
        review.allowOnly(known);
        YamlValueTemplate title = draft.template(review, "title");
        YamlValueTemplate link = draft.template(review, "link");
        String idle = review.text("if_nobody_answers");
        if (idle != null && !idle.equals("hold")) {
            draft.addError(
                    review.valueRange("if_nobody_answers"),
                    "`if_nobody_answers` can only be `hold`: the run waits until a user decides.");
        }
        String to = review.text("to");
        return new ReviewTemplate(to == null ? "" : to, title, link, YamlEscalationPolicyReader.read(draft, review));
    }
}
