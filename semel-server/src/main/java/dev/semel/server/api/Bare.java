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
 * What came with a run, or was made of it, as it is on record: inputs, outputs, errors, results, keys and objects of
 * effects, questions. No view can write it into an answer, since only a mask makes JSON of it; and a wall keeps views from
 * reading these columns in any other way. So a new view cannot forget the mask.
 */
final class Bare {
    private final JsonNode node;
    private final Names names;
    private final boolean leftOut;

    private enum Names {
        /** It is an input, whose marked fields are known by their places. */
        INPUT,
        /** Names of members came with the data, and may say whom it is about. */
        THEIRS,
        /** Names of members are ours. */
        OURS
    }

    private Bare(JsonNode node, Names names, boolean leftOut) {
        this.node = node;
        this.names = names;
        this.leftOut = leftOut;
    }

    static Bare input(Rows.Run run) {
        return json(run.input(), Names.INPUT);
    }

    static Bare output(Rows.Run run) {
        Rows.End end = run.end();
        return json(end == null ? null : end.ending().output(), Names.THEIRS);
    }

    /** What went wrong, and where: a step of a loop has its item in its path. */
    static Bare error(Write.Ending ending) {
        return ours(Views.object().put("message", ending.errorMessage()).put("step", ending.errorStep()));
    }

    static Bare result(Entry.Done done) {
        return new Bare(done.result(), Names.THEIRS, false);
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

    /** A part of the question that a run puts to people; nothing where it has none of that name, or an empty one. */
    static Bare question(Review.Row row, String member) {
        JsonNode part = Json.parse(row.question()).path(member);
        boolean empty =
                part.isMissingNode() || part.isString() && part.asString().isEmpty();
        return new Bare(empty ? JsonNodeFactory.instance.nullNode() : part, Names.THEIRS, false);
    }

    /** Something with names of ours, made of such columns. */
    static Bare ours(JsonNode made) {
        return new Bare(made, Names.OURS, false);
    }

    private static Bare text(@Nullable String text) {
        return ours(text == null ? JsonNodeFactory.instance.nullNode() : StringNode.valueOf(text));
    }

    private static Bare json(@Nullable String json, Names names) {
        return json == null || json.isEmpty()
                ? new Bare(JsonNodeFactory.instance.nullNode(), names, json != null)
                : new Bare(Json.parse(json), names, false);
    }

    /** Whether a list left it out because it is large. */
    boolean isLeftOut() {
        return leftOut;
    }

    boolean isNothing() {
        return node.isNull();
    }

    JsonNode under(Masks.Mask mask) {
        return switch (names) {
            case INPUT -> mask.input(node);
            case THEIRS -> mask.value(node);
            case OURS -> mask.ours(node);
        };
    }

    /** Empty where there is nothing. */
    String textUnder(Masks.Mask mask) {
        return under(mask).asString("");
    }
}
