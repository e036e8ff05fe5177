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
 * Which part of a run's record its replay begins with: all that came to an end which stands. What failed and thereby
 * ended the run is open again, and so is what was still under way; undos are not taken along.
 */
public final class Carried {
    private final Memory memory;

    private Carried(Memory memory) {
        this.memory = memory;
    }

    /** What a run under these terms begins with, in order; nothing where the record may not fit. */
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
                .filter(entry -> ended.contains(entry.path()) && carried.stands(entry.path()))
                .toList();
    }

    /**
     * What is asked for anew when a run that failed goes on in place: what ended it, and what was being tried. All else
     * stays as it is; a wait that has begun goes on.
     */
    public static List<String> opened(List<Entry> journal) {
        Carried carried = new Carried(new Memory(journal));
        List<String> opened = new ArrayList<>();
        carried.memory.traces().forEach((path, trace) -> {
            boolean failed = trace.failed() != null && !carried.stands(path);
            boolean tried = trace.done() == null && trace.failed() == null && trace.tries() > 0;
            if (failed || tried) {
                opened.add(path);
            }
        });
        return opened;
    }

    /** A part of the record from its beginning is what the run once was, so that it fits the code at every place. */
    private static List<Entry> before(List<Entry> entries, Terms terms) {
        for (int i = 0; i < entries.size(); i++) {
            String path = entries.get(i).path();
            // What an earlier replay kept silent is what is missing, unless this one is to be silent too.
            boolean unsent = terms.telling() != Notify.NONE
                    && entries.get(i) instanceof Entry.Done done
                    && done.how() == Entry.How.SILENT;
            if (path.equals(terms.from()) || terms.redo().contains(path) || unsent) {
                return entries.subList(0, i);
            }
        }
        return entries;
    }

    /** A failure that the code has dealt with stands: it went on behind it. */
    private boolean stands(String path) {
        if (StepPath.undoOf(StepPath.scopeOf(path)) != null) {
            return false;
        }
        Memory.Trace trace = memory.at(path);
        return trace != null && (trace.done() != null || trace.failed() != null && goesOnBehind(path));
    }

    /** Whether anything is on record behind this place, in its scope or in one around it. */
    private boolean goesOnBehind(String path) {
        String scope = StepPath.scopeOf(path);
        if (!path.equals(last(scope))) {
            return true;
        }
        String around = StepPath.branchesOf(scope);
        return around != null && goesOnBehind(around);
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
