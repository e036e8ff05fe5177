package dev.semel.replay;

import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.journal.Resumptions;
import dev.semel.run.StepPath;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects the journal entries that a replay starts with: every step that ended, except the failure that ended the run.
 * Unfinished steps and compensations are not carried over.
 */
public final class Carried {
    private final Memory memory;

    private Carried(Memory memory) {
        this.memory = memory;
    }

    /** The entries that a replay with these options starts with, in order; none if they may not match. */
    public static List<Entry> of(List<Entry> journal, Terms terms) {
        if (!terms.carries()) {
            return List.of();
        }
        List<Entry> entries = Resumptions.settled(journal);
        Carried carried = new Carried(new Memory(entries));
        List<Entry> early = before(entries, terms);
        Set<String> ended = new HashSet<>();
        for (Entry entry : early) {
            if (entry instanceof Entry.Done || entry instanceof Entry.Failed) {
                ended.add(entry.path());
            }
        }
        return early.stream()
                .filter(entry -> ended.contains(entry.path()) && carried.isFinal(entry.path()))
                .toList();
    }

    /**
     * The paths that run again when a failed run is resumed in place: the failed step and steps between attempts.
     * Everything else stays; started waits continue.
     */
    public static List<String> opened(List<Entry> journal) {
        Carried carried = new Carried(new Memory(journal));
        List<String> opened = new ArrayList<>();
        carried.memory.traces().forEach((path, trace) -> {
            boolean failed = trace.failed() != null && !carried.isFinal(path);
            boolean tried = trace.done() == null && trace.failed() == null && trace.tries() > 0;
            if (failed || tried) {
                opened.add(path);
            }
        });
        return opened;
    }

    /** A prefix of the journal is a state that the run once had, so it matches the code at every step. */
    private static List<Entry> before(List<Entry> entries, Terms terms) {
        for (int i = 0; i < entries.size(); i++) {
            String path = entries.get(i).path();
            // A notification that an earlier replay did not send is missing, unless this replay sends none either.
            boolean unsent = terms.telling() != Notify.NONE
                    && entries.get(i) instanceof Entry.Done done
                    && done.how() == Entry.How.SILENT;
            if (path.equals(terms.from()) || terms.redo().contains(path) || unsent) {
                return entries.subList(0, i);
            }
        }
        return entries;
    }

    /** A failure counts as final if the code handled it and continued. */
    private boolean isFinal(String path) {
        if (StepPath.undoOf(StepPath.scopeOf(path)) != null) {
            return false;
        }
        Memory.Trace trace = memory.at(path);
        return trace != null && (trace.done() != null || trace.failed() != null && hasLaterEntries(path));
    }

    /** Whether anything is recorded after this step, in its scope or in an enclosing one. */
    private boolean hasLaterEntries(String path) {
        String scope = StepPath.scopeOf(path);
        if (!path.equals(last(scope))) {
            return true;
        }
        String around = StepPath.branchesOf(scope);
        return around != null && hasLaterEntries(around);
    }

    private @Nullable String last(String scope) {
        String last = null;
        int place = 0;
        for (String path = memory.expected(scope, 0); path != null; path = memory.expected(scope, ++place)) {
            last = path;
        }
        return last;
    }
}
