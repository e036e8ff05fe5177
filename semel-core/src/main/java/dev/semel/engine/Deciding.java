package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** How a person's decision reaches a run: as a signal with one key, so that the first decision is the one that counts. */
public final class Deciding {
    public static final String ONCE = "decision";

    private Deciding() {}

    /** Whether a run has asked for a decision at that step; one that it has not asked for is not kept for later. */
    public static boolean isAsked(Reads reads, RunId run, String question) {
        boolean review = question.startsWith(Signals.REVIEW);
        String kind = review ? Signals.REVIEW : Signals.APPROVAL;
        String step = question.substring(kind.length());
        List<Entry> entries = new ArrayList<>();
        reads.journal(run).forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        Memory.Trace trace = new Memory(entries).at(step);
        return review ? isAsked(trace, kind) : trace != null && trace.kind() == Entry.Kind.APPROVAL;
    }

    static boolean isAsked(Memory.@Nullable Trace trace, String kind) {
        Entry.Begun begun = trace == null ? null : trace.begun();
        return begun != null && kind.equals(begun.ref());
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
