package dev.semel.server.query;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreWrite;
import java.util.OptionalInt;
import java.util.SequencedSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.StringNode;

/**
 * A stored value of a run that may contain personal data (PII) and becomes JSON only through a mask. An architecture
 * test keeps views from reading these columns in any other way, so no view can forget the mask.
 */
public final class UnmaskedPiiValue {
    private static final Pattern HTTP_STATUS = Pattern.compile("HTTP status ([0-9]{3})");

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

    private UnmaskedPiiValue(JsonNode node, MemberNames names, boolean leftOut) {
        this.node = node;
        this.names = names;
        this.leftOut = leftOut;
    }

    public static UnmaskedPiiValue input(DatabaseRows.RunRow run) {
        return json(run.input(), MemberNames.INPUT);
    }

    public static UnmaskedPiiValue output(DatabaseRows.RunRow run) {
        DatabaseRows.RunEnd end = run.end();
        return json(end == null ? null : end.result().output(), MemberNames.FROM_DATA);
    }

    static UnmaskedPiiValue result(JournalEntry.StepResult done) {
        return new UnmaskedPiiValue(done.result(), MemberNames.FROM_DATA, false);
    }

    static UnmaskedPiiValue message(JournalEntry.ErrorDetails problem) {
        return text(problem.message());
    }

    public static UnmaskedPiiValue message(StoreWrite.RunResult ending) {
        return text(ending.errorMessage());
    }

    public static UnmaskedPiiValue key(EffectLedger.EffectRow effect) {
        return text(effect.details().key());
    }

    public static UnmaskedPiiValue object(EffectLedger.EffectRow effect) {
        return text(effect.details().object());
    }

    public static UnmaskedPiiValue object(MetricUpdateCollector.MetricFact fact) {
        return text(fact.object());
    }

    /** One member of a review's question; null if it is missing or empty. */
    static UnmaskedPiiValue question(HumanReviewStoreWriteCommand.ReviewRow row, String member) {
        JsonNode part = StrictJsonCodec.parse(row.question()).path(member);
        boolean empty =
                part.isMissingNode() || part.isString() && part.asString().isEmpty();
        return new UnmaskedPiiValue(empty ? JsonNodeFactory.instance.nullNode() : part, MemberNames.FROM_DATA, false);
    }

    /** The run that sent the message before; null if it is not stored. An id of Semel is no PII. */
    static @Nullable RunId previousRun(HumanReviewStoreWriteCommand.ReviewRow row) {
        return RunId.parse(StrictJsonCodec.parse(row.question())
                .path(HumanReviewStoreWriteCommand.ReviewQuestion.PREVIOUS_RUN)
                .asString(""));
    }

    /** When the message was accepted before; 0 if it is not stored. */
    static long previousAt(HumanReviewStoreWriteCommand.ReviewRow row) {
        return StrictJsonCodec.parse(row.question())
                .path(HumanReviewStoreWriteCommand.ReviewQuestion.PREVIOUS_AT)
                .asLong(0);
    }

    /** The HTTP status in the error of a run; empty if it has none. A status is no PII. */
    public static OptionalInt httpStatus(StoreWrite.RunResult ending) {
        Matcher status = HTTP_STATUS.matcher(String.valueOf(ending.errorMessage()));
        return status.find() ? OptionalInt.of(Integer.parseInt(status.group(1))) : OptionalInt.empty();
    }

    /** The data of a message in a review, which are JSON inside a text; null if they are not stored. */
    static UnmaskedPiiValue changedData(HumanReviewStoreWriteCommand.ReviewRow row, String member) {
        JsonNode part = StrictJsonCodec.parse(row.question()).path(member);
        return new UnmaskedPiiValue(
                part.isString() ? StrictJsonCodec.parse(part.stringValue()) : JsonNodeFactory.instance.nullNode(),
                MemberNames.FROM_DATA,
                false);
    }

    /** Adds the paths in which the other value differs. A member name may be PII. */
    void addDifferences(UnmaskedPiiValue other, SequencedSet<String> out, int most) {
        ChangedMessageView.addDifferences(node, other.node, "", out, most);
    }

    /** JSON with member names chosen by Semel, built from such columns. */
    static UnmaskedPiiValue withFixedNames(JsonNode made) {
        return new UnmaskedPiiValue(made, MemberNames.FIXED, false);
    }

    private static UnmaskedPiiValue text(@Nullable String text) {
        return withFixedNames(text == null ? JsonNodeFactory.instance.nullNode() : StringNode.valueOf(text));
    }

    private static UnmaskedPiiValue json(@Nullable String json, MemberNames names) {
        return json == null || json.isEmpty()
                ? new UnmaskedPiiValue(JsonNodeFactory.instance.nullNode(), names, json != null)
                : new UnmaskedPiiValue(StrictJsonCodec.parse(json), names, false);
    }

    /** Whether a list omitted the value because it is large. */
    boolean isOmitted() {
        return leftOut;
    }

    public boolean isNull() {
        return node.isNull();
    }

    public JsonNode maskWith(PiiMask mask) {
        return switch (names) {
            case INPUT -> mask.maskInput(node);
            case FROM_DATA -> mask.maskValue(node);
            case FIXED -> mask.maskValuesOnly(node);
        };
    }

    /** The masked text; null if there is no value. */
    public @Nullable String maskTextOrNull(PiiMask mask) {
        return node.isNull() ? null : maskTextWith(mask);
    }

    /** The masked text; empty if there is no value. */
    public String maskTextWith(PiiMask mask) {
        return maskWith(mask).asString("");
    }
}
