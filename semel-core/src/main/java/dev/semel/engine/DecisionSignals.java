package dev.semel.engine;

import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalIndex;
import dev.semel.run.RunId;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Builds and finds the signals that carry approval and review decisions to a run. One key per decision: the first one
 * counts.
 */
public final class DecisionSignals {
    public static final String SIGNAL_KEY = "decision";

    private DecisionSignals() {}

    /**
     * Returns the signal for a decision at that step, or null if the run has not requested one: decisions are not kept
     * for later.
     *
     * @param question a name made by {@link #approvalSignal} or {@link #reviewSignal}
     */
    public static @Nullable String findSignal(StoreQueries reads, RunId run, String question) {
        boolean review = question.startsWith(SignalSteps.REVIEW);
        String step = question.substring((review ? SignalSteps.REVIEW : SignalSteps.APPROVAL).length());
        List<JournalEntry> entries = new ArrayList<>();
        reads.journal(run).forEach(chunk -> entries.addAll(JournalCodec.decode(chunk.entries())));
        JournalIndex.StepRecord trace = new JournalIndex(entries).stepAt(step);
        if (!review) {
            return trace != null && trace.kind() == JournalEntry.EntryKind.APPROVAL ? question : null;
        }
        String ref = trace == null || trace.started() == null
                ? null
                : trace.started().ref();
        return ref != null && ref.startsWith(SignalSteps.REVIEW)
                ? ReviewOperation.ReviewQuestion.changeSignal(step, ref.substring(SignalSteps.REVIEW.length()))
                : null;
    }

    /** Whether the journal shows that the run requested exactly this decision. */
    static boolean isRequested(JournalIndex.@Nullable StepRecord trace, String what) {
        JournalEntry.WaitStart begun = trace == null ? null : trace.started();
        return begun != null && what.equals(begun.ref());
    }

    public static String approvalSignal(String step) {
        return SignalSteps.APPROVAL + step;
    }

    public static String reviewSignal(String step) {
        return SignalSteps.REVIEW + step;
    }

    public static JsonNode toJson(boolean approved, String by, String note) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("approved", approved)
                .put("by", by)
                .put("note", note);
    }
}
