package dev.semel.journal;

import dev.semel.run.JournalStepPathFormat;
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

/** If the code runs steps in another order, the code has changed and the run must not continue. */
public final class RunJournalStepIndex {
    private final Map<String, StepRecord> steps = new LinkedHashMap<>();
    private final Map<String, List<String>> order = new HashMap<>();
    private final TreeSet<String> scopes = new TreeSet<>();
    private final Set<String> redoPaths = new TreeSet<>();
    private final boolean resumed;
    private final boolean quiet;

    public RunJournalStepIndex(List<JournalEntry> entries) {
        Set<String> branches = new HashSet<>();
        resumed = ResumedRunJournalReader.last(entries) != null;
        boolean silent = false;
        for (JournalEntry entry : entries) {
            if (entry instanceof JournalEntry.RedoRequest again) {
                redoPaths.addAll(again.paths());
            }
            silent |= entry instanceof JournalEntry.NotificationMute;
        }
        quiet = silent;
        for (JournalEntry entry : ResumedRunJournalReader.effectiveEntries(entries)) {
            StepRecord before = steps.get(entry.path());
            if (before == null) {
                String scope = JournalStepPathFormat.scopeOf(entry.path());
                begin(scope, branches);
                order.computeIfAbsent(scope, _ -> new ArrayList<>()).add(entry.path());
            }
            steps.put(entry.path(), (before == null ? StepRecord.none(entry.kind()) : before).plus(entry));
        }
    }

    /** Registers a scope. The forEach that it is a branch of has its place in the order of the enclosing scope. */
    private void begin(String scope, Set<String> branches) {
        String around = scopes.add(scope) ? JournalStepPathFormat.branchesOf(scope) : null;
        if (around != null && branches.add(around)) {
            String outer = JournalStepPathFormat.scopeOf(around);
            begin(outer, branches);
            order.computeIfAbsent(outer, _ -> new ArrayList<>()).add(around);
        }
    }

    /** All recorded steps, in the order in which they first ran. */
    public Map<String, StepRecord> steps() {
        return Collections.unmodifiableMap(steps);
    }

    /** Steps that this run executes again on purpose. */
    public Set<String> redoPaths() {
        return Collections.unmodifiableSet(redoPaths);
    }

    /** Whether this run must not send notifications that are not recorded. */
    public boolean mutesNotifications() {
        return quiet;
    }

    public boolean isEmpty() {
        return steps.isEmpty();
    }

    /** Whether anything is recorded in this scope or below it. */
    public boolean hasRecordsIn(String scope) {
        String first = scopes.ceiling(scope);
        return first != null && first.startsWith(scope);
    }

    /** The scopes of compensations that have started. */
    public Set<String> compensationScopes() {
        Set<String> undos = new TreeSet<>();
        for (String scope : scopes) {
            String undo = JournalStepPathFormat.compensationOf(scope);
            if (undo != null) {
                undos.add(undo);
            }
        }
        return undos;
    }

    /**
     * @param failedAttempts failed attempts so far
     * @param due when the next attempt or the end of a wait is due; 0 for neither
     * @param attempts about the failed attempts together
     */
    public record StepRecord(
            JournalEntry.EntryKind kind,
            JournalEntry.@Nullable StepResult done,
            JournalEntry.@Nullable StepFailure failed,
            int failedAttempts,
            long due,
            JournalEntry.@Nullable WaitStart started,
            AttemptHistory attempts) {
        static StepRecord none(JournalEntry.EntryKind kind) {
            return new StepRecord(kind, null, null, 0, 0, null, AttemptHistory.NONE);
        }

        /** The first recorded end counts. */
        StepRecord plus(JournalEntry entry) {
            if (done != null || failed != null) {
                return this;
            }
            return switch (entry) {
                case JournalEntry.StepResult end ->
                    new StepRecord(kind, end, null, failedAttempts, due, started, attempts);
                case JournalEntry.StepFailure end ->
                    new StepRecord(kind, null, end, failedAttempts, due, started, attempts);
                case JournalEntry.AttemptFailure tried ->
                    new StepRecord(kind, null, null, tried.attempt(), tried.due(), started, attempts.plus(tried));
                case JournalEntry.WaitStart start ->
                    new StepRecord(kind, null, null, failedAttempts, start.due(), start, attempts);
                case JournalEntry.RunResumption _, JournalEntry.RedoRequest _, JournalEntry.NotificationMute _ -> this;
            };
        }
    }

    /**
     * @param firstAt when the first attempt failed; 0 if none did
     * @param allUnsent whether certainly none of them was sent
     * @param last why the last one failed; null if none did
     */
    public record AttemptHistory(long firstAt, boolean allUnsent, JournalEntry.@Nullable ErrorDetails last) {
        public static final AttemptHistory NONE = new AttemptHistory(0, true, null);

        public AttemptHistory plus(JournalEntry.AttemptFailure tried) {
            return new AttemptHistory(firstAt == 0 ? tried.at() : firstAt, allUnsent && tried.unsent(), tried.error());
        }
    }

    /** All branches of a forEach are one {@link JournalStepPathFormat#branches}. Null at the end of the journal. */
    public @Nullable String expectedPath(String scope, int place) {
        List<String> paths = order.get(scope);
        return paths == null || place >= paths.size() ? null : paths.get(place);
    }

    public @Nullable StepRecord stepAt(String path) {
        return steps.get(path);
    }

    /** Whether any attempt failed, also in a run that was resumed in place. */
    public boolean hadFailedAttempt() {
        return resumed
                || steps.values().stream().anyMatch(trace -> trace.failedAttempts() > 0 || trace.failed() != null);
    }

    /** Calls whose child run has started and whose end is not recorded: path and run. */
    public Map<String, String> unfinishedCalls() {
        Map<String, String> open = new LinkedHashMap<>();
        steps.forEach((path, trace) -> {
            JournalEntry.WaitStart begun = trace.started();
            boolean ended = trace.done() != null || trace.failed() != null;
            if (trace.kind() == JournalEntry.EntryKind.CALL && !ended && begun != null && begun.ref() != null) {
                open.put(path, begun.ref());
            }
        });
        return open;
    }

    public Set<String> consumedSignals() {
        Set<String> taken = new HashSet<>();
        for (StepRecord trace : steps.values()) {
            JournalEntry.StepResult done = trace.done();
            boolean waited =
                    trace.kind() == JournalEntry.EntryKind.AWAIT || trace.kind() == JournalEntry.EntryKind.APPROVAL;
            if (done != null && waited && done.ref() != null) {
                taken.add(done.ref());
            }
        }
        return taken;
    }

    /** A recorded path that the code did not run, or null. */
    public @Nullable String firstUnvisited(Set<String> asked) {
        TreeSet<String> left = new TreeSet<>(steps.keySet());
        left.removeAll(asked);
        return left.isEmpty() ? null : left.first();
    }
}
