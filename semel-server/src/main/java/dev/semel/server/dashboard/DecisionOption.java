package dev.semel.server.dashboard;

import java.util.List;

/**
 * One option of a decision form, shown as a radio button. Options are not submit buttons, because Enter in the note
 * field would then submit the first decision.
 *
 * @param description what the option does, in a sentence; may be empty
 */
public record DecisionOption(String value, String label, String description) {
    /** The options on the run page for a step that waits for a decision. */
    public static List<DecisionOption> forRunStep(String kind) {
        return switch (kind) {
            case "approval" ->
                List.of(
                        new DecisionOption("approve", "Approve: the run continues", ""),
                        new DecisionOption("reject", "Reject", ""));
            case "review" ->
                List.of(
                        new DecisionOption("send", "Send it: the recipient gets a second one", ""),
                        new DecisionOption("suppress", "Suppress it: only the first one counts", ""));
            default ->
                List.of(
                        new DecisionOption("happened", "It happened: record it and send nothing", ""),
                        new DecisionOption("did_not_happen", "It did not happen: send it with the same key", ""));
        };
    }

    /** The decisions of a review, with the API's description of each. */
    public static List<DecisionOption> forReview(ApiJson review) {
        return ReviewPages.decisions(review.text("kind")).stream()
                .map(word -> new DecisionOption(
                        word, ReviewPages.label(word), review.at("answers").text(word)))
                .toList();
    }

    /** The decisions for several reviews of one kind. */
    public static List<DecisionOption> forMany(String kind) {
        return ReviewPages.decisions(kind).stream()
                .map(word -> new DecisionOption(word, ReviewPages.label(word), ""))
                .toList();
    }

    /** Subscribed or unsubscribed, for one topic of a profile. */
    public static List<DecisionOption> subscription() {
        return List.of(
                new DecisionOption("no", "Unsubscribe: send nothing about this topic", ""),
                new DecisionOption("yes", "Subscribe again", ""));
    }
}
