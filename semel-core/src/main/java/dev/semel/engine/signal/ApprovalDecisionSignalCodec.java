package dev.semel.engine.signal;

import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** One key per decision: the first one counts. */
public final class ApprovalDecisionSignalCodec {
    public static final String SIGNAL_KEY = "decision";

    private ApprovalDecisionSignalCodec() {}

    /** Null if the run has not requested that {@link #approvalSignal} or {@link #reviewSignal}: none is kept. */
    public static @Nullable String findSignal(StoreQueries reads, RunId run, String question) {
        boolean review = question.startsWith(SignalWaitExecutor.REVIEW);
        String step = question.substring((review ? SignalWaitExecutor.REVIEW : SignalWaitExecutor.APPROVAL).length());
        List<JournalEntry> entries = new ArrayList<>();
        reads.journal(run).forEach(chunk -> entries.addAll(JournalCodec.decode(chunk.entries())));
        RunJournalStepIndex.StepRecord trace = new RunJournalStepIndex(entries).stepAt(step);
        if (!review) {
            return trace != null && trace.kind() == JournalEntry.EntryKind.APPROVAL ? question : null;
        }
        String ref = trace == null || trace.started() == null
                ? null
                : trace.started().ref();
        return ref != null && ref.startsWith(SignalWaitExecutor.REVIEW)
                ? HumanReviewStoreWriteCommand.ReviewQuestion.changeSignal(
                        step, ref.substring(SignalWaitExecutor.REVIEW.length()))
                : null;
    }

    static boolean isRequested(RunJournalStepIndex.@Nullable StepRecord trace, String what) {
        JournalEntry.WaitStart begun = trace == null ? null : trace.started();
        return begun != null && what.equals(begun.ref());
    }

    public static String approvalSignal(String step) {
        return SignalWaitExecutor.APPROVAL + step;
    }

    public static String reviewSignal(String step) {
        return SignalWaitExecutor.REVIEW + step;
    }

    public static JsonNode toJson(boolean approved, String by, String note) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("approved", approved)
                .put("by", by)
                .put("note", note);
    }
}
