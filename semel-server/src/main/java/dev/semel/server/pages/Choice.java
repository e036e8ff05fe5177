package dev.semel.server.pages;

import java.util.List;

/**
 * One answer that a form offers. Answers are chosen and then sent by the one button of their form, because Enter in a
 * field presses the first button there is: were each answer a button, a note that is ended by Enter would decide.
 *
 * @param means what it does, in a sentence; empty where its label says so
 */
public record Choice(String word, String label, String means) {
    /** What the page of a run offers for a step that waits for a person. */
    public static List<Choice> onRun(String kind) {
        return switch (kind) {
            case "approval" ->
                List.of(new Choice("approve", "Approve: the run goes on", ""), new Choice("reject", "Reject", ""));
            case "review" ->
                List.of(
                        new Choice("send", "Send it: there will be a second one", ""),
                        new Choice("suppress", "Suppress it: the first one counts", ""));
            default ->
                List.of(
                        new Choice("happened", "It happened: record it, send nothing", ""),
                        new Choice("did_not_happen", "It did not happen: send it with the same key", ""));
        };
    }

    /** The decisions of a review, with what the API says that each does. */
    public static List<Choice> of(Doc review) {
        return ReviewPages.decisions(review.text("kind")).stream()
                .map(word -> new Choice(
                        word, ReviewPages.label(word), review.at("answers").text(word)))
                .toList();
    }

    /** The decisions of a kind, for many at once. */
    public static List<Choice> together(String kind) {
        return ReviewPages.decisions(kind).stream()
                .map(word -> new Choice(word, ReviewPages.label(word), ""))
                .toList();
    }

    /** Whether somebody is written to about a topic. */
    public static List<Choice> subscription() {
        return List.of(new Choice("no", "Unsubscribe: no more of it", ""), new Choice("yes", "Subscribe again", ""));
    }
}
