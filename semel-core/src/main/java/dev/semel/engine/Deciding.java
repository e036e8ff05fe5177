package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Builds and finds the signals that carry approval and review decisions to a run. One key per decision: the first one
 * counts.
 */
public final class Deciding {
    public static final String ONCE = "decision";

    private Deciding() {}

    /**
     * Returns the signal for a decision at that step, or null if the run has not requested one: decisions are not kept
     * for later.
     *
     * @param question a name made by {@link #approval} or {@link #review}
     */
    public static @Nullable String asked(Reads reads, RunId run, String question) {
        boolean review = question.startsWith(Signals.REVIEW);
        String step = question.substring((review ? Signals.REVIEW : Signals.APPROVAL).length());
        List<Entry> entries = new ArrayList<>();
        reads.journal(run).forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        Memory.Trace trace = new Memory(entries).at(step);
        if (!review) {
            return trace != null && trace.kind() == Entry.Kind.APPROVAL ? question : null;
        }
        String ref =
                trace == null || trace.begun() == null ? null : trace.begun().ref();
        return ref != null && ref.startsWith(Signals.REVIEW)
                ? Review.Question.changed(step, ref.substring(Signals.REVIEW.length()))
                : null;
    }

    /** Whether the journal shows that the run requested exactly this decision. */
    static boolean isAsked(Memory.@Nullable Trace trace, String what) {
        Entry.Begun begun = trace == null ? null : trace.begun();
        return begun != null && what.equals(begun.ref());
    }

    public static String approval(String step) {
        return Signals.APPROVAL + step;
    }

    public static String review(String step) {
        return Signals.REVIEW + step;
    }

    public static JsonNode decision(boolean approved, String by, String note) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("approved", approved)
                .put("by", by)
                .put("note", note);
    }
}
