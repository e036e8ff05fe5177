package dev.semel.replay;

import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.run.StepPath;
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
    public static List<Entry> of(List<Entry> entries, Terms terms) {
        if (!terms.carries()) {
            return List.of();
        }
        Carried carried = new Carried(new Memory(entries));
        List<Entry> early = before(entries, terms.from());
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

    /** A part of the record from its beginning is what the run once was, so that it fits the code at every place. */
    private static List<Entry> before(List<Entry> entries, String from) {
        for (int i = 0; !from.isEmpty() && i < entries.size(); i++) {
            if (entries.get(i).path().equals(from)) {
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
        return trace != null && (trace.done() != null || goesOnBehind(path));
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
