package dev.semel.server.dashboard.run;

import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import java.util.List;

/**
 * One option of a decision form, shown as a radio button. Options are not submit buttons, because Enter in the note
 * field would then submit the first decision.
 *
 * @param description what the option does, in a sentence; may be empty
 */
public record RadioButtonOption(String value, String label, String description) {
    public static List<RadioButtonOption> forRunStep(String kind) {
        return switch (kind) {
            case "approval" ->
                List.of(
                        new RadioButtonOption("approve", "Approve: the run continues", ""),
                        new RadioButtonOption("reject", "Reject", ""));
            case "review" ->
                List.of(
                        new RadioButtonOption("send", "Send it: the recipient gets a second message", ""),
                        new RadioButtonOption(
                                "suppress", "Suppress it: the recipient keeps only the first message", ""));
            default ->
                List.of(
                        new RadioButtonOption("happened", "It happened: record it and send nothing", ""),
                        new RadioButtonOption("did_not_happen", "It did not happen: send it with the same key", ""));
        };
    }

    public static List<RadioButtonOption> forReview(DashboardTemplateJsonAccessor review) {
        return HumanReviewPages.decisions(review.text("kind")).stream()
                .map(word -> new RadioButtonOption(
                        word, HumanReviewPages.label(word), review.at("answers").text(word)))
                .toList();
    }

    /** The decisions for several reviews of one kind. */
    public static List<RadioButtonOption> forMany(String kind) {
        return HumanReviewPages.decisions(kind).stream()
                .map(word -> new RadioButtonOption(word, HumanReviewPages.label(word), ""))
                .toList();
    }

    /** Subscribed or unsubscribed, for one topic of a profile. */
    public static List<RadioButtonOption> subscription() {
        return List.of(
                new RadioButtonOption("no", "Unsubscribe: send nothing about this topic", ""),
                new RadioButtonOption("yes", "Subscribe again", ""));
    }
}
