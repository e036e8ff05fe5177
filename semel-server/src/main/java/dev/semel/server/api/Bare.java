package dev.semel.server.api;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.json.Json;
import dev.semel.store.Counted;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.StringNode;

/**
 * A stored value of a run that may contain personal data (PII) and becomes JSON only through a mask. An architecture
 * test keeps views from reading these columns in any other way, so no view can forget the mask.
 */
final class Bare {
    private final JsonNode node;
    private final MemberNames names;
    private final boolean leftOut;

    private enum MemberNames {
        /** An input: the paths of its PII fields are known. */
        INPUT,
        /** The member names came with the data and may be PII. */
        FROM_DATA,
        /** Semel chose the member names. */
        FIXED
    }

    private Bare(JsonNode node, MemberNames names, boolean leftOut) {
        this.node = node;
        this.names = names;
        this.leftOut = leftOut;
    }

    static Bare input(Rows.Run run) {
        return json(run.input(), MemberNames.INPUT);
    }

    static Bare output(Rows.Run run) {
        Rows.End end = run.end();
        return json(end == null ? null : end.ending().output(), MemberNames.FROM_DATA);
    }

    /** The error message and its step. The path of a step in a loop contains its item. */
    static Bare error(Write.Ending ending) {
        return ours(Views.object().put("message", ending.errorMessage()).put("step", ending.errorStep()));
    }

    static Bare result(Entry.Done done) {
        return new Bare(done.result(), MemberNames.FROM_DATA, false);
    }

    static Bare message(Entry.Problem problem) {
        return text(problem.message());
    }

    static Bare message(Write.Ending ending) {
        return text(ending.errorMessage());
    }

    static Bare key(Ledger.Row effect) {
        return text(effect.facts().key());
    }

    static Bare object(Ledger.Row effect) {
        return text(effect.facts().object());
    }

    static Bare object(Counted.Fact fact) {
        return text(fact.object());
    }

    /** One member of a review's question; null if it is missing or empty. */
    static Bare question(Review.Row row, String member) {
        JsonNode part = Json.parse(row.question()).path(member);
        boolean empty =
                part.isMissingNode() || part.isString() && part.asString().isEmpty();
        return new Bare(empty ? JsonNodeFactory.instance.nullNode() : part, MemberNames.FROM_DATA, false);
    }

    /** JSON with member names chosen by Semel, built from such columns. */
    static Bare ours(JsonNode made) {
        return new Bare(made, MemberNames.FIXED, false);
    }

    private static Bare text(@Nullable String text) {
        return ours(text == null ? JsonNodeFactory.instance.nullNode() : StringNode.valueOf(text));
    }

    private static Bare json(@Nullable String json, MemberNames names) {
        return json == null || json.isEmpty()
                ? new Bare(JsonNodeFactory.instance.nullNode(), names, json != null)
                : new Bare(Json.parse(json), names, false);
    }

    /** Whether a list omitted the value because it is large. */
    boolean isLeftOut() {
        return leftOut;
    }

    boolean isNothing() {
        return node.isNull();
    }

    JsonNode under(Masks.Mask mask) {
        return switch (names) {
            case INPUT -> mask.input(node);
            case FROM_DATA -> mask.value(node);
            case FIXED -> mask.ours(node);
        };
    }

    /** The masked text; empty if there is no value. */
    String textUnder(Masks.Mask mask) {
        return under(mask).asString("");
    }
}
