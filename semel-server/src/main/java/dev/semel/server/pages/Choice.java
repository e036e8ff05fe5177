package dev.semel.server.pages;

import java.util.List;

/**
 * One option of a decision form, shown as a radio button. Options are not submit buttons, because Enter in the note
 * field would then submit the first decision.
 *
 * @param means what the option does, in a sentence; may be empty
 */
public record Choice(String word, String label, String means) {
    /** The options on the run page for a step that waits for a decision. */
    public static List<Choice> onRun(String kind) {
        return switch (kind) {
            case "approval" ->
                List.of(new Choice("approve", "Approve: the run continues", ""), new Choice("reject", "Reject", ""));
            case "review" ->
                List.of(
                        new Choice("send", "Send it: the recipient gets a second one", ""),
                        new Choice("suppress", "Suppress it: only the first one counts", ""));
            default ->
                List.of(
                        new Choice("happened", "It happened: record it and send nothing", ""),
                        new Choice("did_not_happen", "It did not happen: send it with the same key", ""));
        };
    }

    /** The decisions of a review, with the API's description of each. */
    public static List<Choice> of(Doc review) {
        return ReviewPages.decisions(review.text("kind")).stream()
                .map(word -> new Choice(
                        word, ReviewPages.label(word), review.at("answers").text(word)))
                .toList();
    }

    /** The decisions for several reviews of one kind. */
    public static List<Choice> together(String kind) {
        return ReviewPages.decisions(kind).stream()
                .map(word -> new Choice(word, ReviewPages.label(word), ""))
                .toList();
    }

    /** Subscribed or unsubscribed, for one topic of a profile. */
    public static List<Choice> subscription() {
        return List.of(
                new Choice("no", "Unsubscribe: send nothing about this topic", ""),
                new Choice("yes", "Subscribe again", ""));
    }
}
