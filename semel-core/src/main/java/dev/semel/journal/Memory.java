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
 * Index of a run's journal for recovery: the record of each step path, and the order of steps in each scope. If the
 * code runs steps in another order, the code has changed and the run must not continue.
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

    /** Registers a scope. The forEach that it is a branch of has its place in the order of the enclosing scope. */
    private void begin(String scope, Set<String> branches) {
        String around = scopes.add(scope) ? StepPath.branchesOf(scope) : null;
        if (around != null && branches.add(around)) {
            String outer = StepPath.scopeOf(around);
            begin(outer, branches);
            order.computeIfAbsent(outer, _ -> new ArrayList<>()).add(around);
        }
    }

    /** All recorded steps, in the order in which they first ran. */
    public Map<String, Trace> traces() {
        return Collections.unmodifiableMap(traces);
    }

    /** Steps that this run executes again on purpose. */
    public Set<String> redo() {
        return Collections.unmodifiableSet(redo);
    }

    /** Whether this run must not send notifications that are not recorded. */
    public boolean isQuiet() {
        return quiet;
    }

    /** Nothing was recorded yet. */
    public boolean isEmpty() {
        return traces.isEmpty();
    }

    /** Whether anything is recorded in this scope or below it. */
    public boolean hasBegun(String scope) {
        String first = scopes.ceiling(scope);
        return first != null && first.startsWith(scope);
    }

    /** The scopes of compensations that have started. */
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
     * The recorded state of one step.
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

        /** The first recorded end counts. */
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
     * The path that a scope should run next at this position, or all branches of a forEach as {@link
     * StepPath#branches}. Null at the end of the journal.
     */
    public @Nullable String expected(String scope, int place) {
        List<String> paths = order.get(scope);
        return paths == null || place >= paths.size() ? null : paths.get(place);
    }

    public @Nullable Trace at(String path) {
        return traces.get(path);
    }

    /** Whether any attempt failed, also in a run that was resumed in place. */
    public boolean stumbled() {
        return resumed || traces.values().stream().anyMatch(trace -> trace.tries() > 0 || trace.failed() != null);
    }

    /** Calls whose child run has started and whose end is not recorded: path and run. */
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

    /** Ids of the consumed signals. */
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

    /** A recorded path that the code did not run, or null. */
    public @Nullable String leftOver(Set<String> asked) {
        TreeSet<String> left = new TreeSet<>(traces.keySet());
        left.removeAll(asked);
        return left.isEmpty() ? null : left.first();
    }
}
