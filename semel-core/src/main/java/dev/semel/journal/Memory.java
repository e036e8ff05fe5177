package dev.semel.journal;

import dev.semel.run.StepPath;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a run remembers when it is taken up again: what is on record at each path, and in which order each scope asked
 * for it. Code that asks in another order than the record has changed, and must not go on by guessing.
 */
public final class Memory {
    private final Map<String, Trace> traces = new LinkedHashMap<>();
    private final Map<String, List<String>> order = new HashMap<>();
    private final TreeSet<String> scopes = new TreeSet<>();
    private final Set<String> redo = new TreeSet<>();
    private final boolean resumed;
    private final boolean quiet;

    public Memory(List<Entry> entries) {
        Set<String> branches = new HashSet<>();
        resumed = Resumptions.last(entries) != null;
        boolean silent = false;
        for (Entry entry : entries) {
            if (entry instanceof Entry.Redo again) {
                redo.addAll(again.paths());
            }
            silent |= entry instanceof Entry.Quiet;
        }
        quiet = silent;
        for (Entry entry : Resumptions.settled(entries)) {
            Trace before = traces.get(entry.path());
            if (before == null) {
                String scope = StepPath.scopeOf(entry.path());
                begin(scope, branches);
                order.computeIfAbsent(scope, _ -> new ArrayList<>()).add(entry.path());
            }
            traces.put(entry.path(), (before == null ? Trace.none(entry.kind()) : before).plus(entry));
        }
    }

    /** A scope asked for something: the forEach that it is a branch of has its place in the order of the scope around. */
    private void begin(String scope, Set<String> branches) {
        String around = scopes.add(scope) ? StepPath.branchesOf(scope) : null;
        if (around != null && branches.add(around)) {
            String outer = StepPath.scopeOf(around);
            begin(outer, branches);
            order.computeIfAbsent(outer, _ -> new ArrayList<>()).add(around);
        }
    }

    /** Everything that is on record, in the order in which it was first asked for. */
    public Map<String, Trace> traces() {
        return Collections.unmodifiableMap(traces);
    }

    /** Steps that this run does again on purpose, whatever another one did. */
    public Set<String> redo() {
        return Collections.unmodifiableSet(redo);
    }

    /** Notifications that are not on record are not sent by this run. */
    public boolean isQuiet() {
        return quiet;
    }

    /** Nothing was recorded yet. */
    public boolean isEmpty() {
        return traces.isEmpty();
    }

    /** Whether anything is on record in this scope or below it. */
    public boolean hasBegun(String scope) {
        String first = scopes.ceiling(scope);
        return first != null && first.startsWith(scope);
    }

    /** The scopes of undos that have begun. */
    public Set<String> undos() {
        Set<String> undos = new TreeSet<>();
        for (String scope : scopes) {
            String undo = StepPath.undoOf(scope);
            if (undo != null) {
                undos.add(undo);
            }
        }
        return undos;
    }

    /**
     * What is on record at one path.
     *
     * @param tries failed attempts so far
     * @param due when the next attempt or the end of a wait is due; 0 for neither
     */
    public record Trace(
            Entry.Kind kind,
            Entry.@Nullable Done done,
            Entry.@Nullable Failed failed,
            int tries,
            long due,
            Entry.@Nullable Begun begun) {
        static Trace none(Entry.Kind kind) {
            return new Trace(kind, null, null, 0, 0, null);
        }

        /** The first end on record is the one that counts. */
        Trace plus(Entry entry) {
            if (done != null || failed != null) {
                return this;
            }
            return switch (entry) {
                case Entry.Done end -> new Trace(kind, end, null, tries, due, begun);
                case Entry.Failed end -> new Trace(kind, null, end, tries, due, begun);
                case Entry.Tried tried -> new Trace(kind, null, null, tried.attempt(), tried.due(), begun);
                case Entry.Begun start -> new Trace(kind, null, null, tries, start.due(), start);
                case Entry.Resumed _, Entry.Redo _, Entry.Quiet _ -> this;
            };
        }
    }

    /**
     * What a scope is expected to ask for next, at this place in its order: a path, or all branches of a forEach as
     * {@link StepPath#branches} has them. Null where the record ends.
     */
    public @Nullable String expected(String scope, int place) {
        List<String> paths = order.get(scope);
        return paths == null || place >= paths.size() ? null : paths.get(place);
    }

    public @Nullable Trace at(String path) {
        return traces.get(path);
    }

    /** Whether an attempt failed on the way, whatever came of it; so it did in a run that went on in place. */
    public boolean stumbled() {
        return resumed || traces.values().stream().anyMatch(trace -> trace.tries() > 0 || trace.failed() != null);
    }

    /** Calls whose run has begun and whose end is not on record: path and run. */
    public Map<String, String> openCalls() {
        Map<String, String> open = new LinkedHashMap<>();
        traces.forEach((path, trace) -> {
            Entry.Begun begun = trace.begun();
            boolean ended = trace.done() != null || trace.failed() != null;
            if (trace.kind() == Entry.Kind.CALL && !ended && begun != null && begun.ref() != null) {
                open.put(path, begun.ref());
            }
        });
        return open;
    }

    /** Ids of the signals that were taken. */
    public Set<String> takenSignals() {
        Set<String> taken = new HashSet<>();
        for (Trace trace : traces.values()) {
            Entry.Done done = trace.done();
            boolean waited = trace.kind() == Entry.Kind.AWAIT || trace.kind() == Entry.Kind.APPROVAL;
            if (done != null && waited && done.ref() != null) {
                taken.add(done.ref());
            }
        }
        return taken;
    }

    /** A recorded path that the code did not ask for, or null. */
    public @Nullable String leftOver(Set<String> asked) {
        TreeSet<String> left = new TreeSet<>(traces.keySet());
        left.removeAll(asked);
        return left.isEmpty() ? null : left.first();
    }
}
