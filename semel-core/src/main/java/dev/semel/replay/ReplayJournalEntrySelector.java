package dev.semel.replay;

import dev.semel.journal.JournalEntry;
import dev.semel.journal.ResumedRunJournalReader;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.run.JournalStepPathFormat;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Every step that ended, except the failure that ended the run. Not unfinished steps and compensations. */
public final class ReplayJournalEntrySelector {
    private final RunJournalStepIndex memory;

    private ReplayJournalEntrySelector(RunJournalStepIndex memory) {
        this.memory = memory;
    }

    /** The entries that a replay with these options starts with, in order; none if they may not match. */
    public static List<JournalEntry> select(List<JournalEntry> journal, ReplayOptions terms) {
        if (!terms.carriesJournal()) {
            return List.of();
        }
        List<JournalEntry> entries = ResumedRunJournalReader.effectiveEntries(journal);
        ReplayJournalEntrySelector carried = new ReplayJournalEntrySelector(new RunJournalStepIndex(entries));
        List<JournalEntry> early = before(entries, terms);
        Set<String> ended = new HashSet<>();
        for (JournalEntry entry : early) {
            if (entry instanceof JournalEntry.StepResult || entry instanceof JournalEntry.StepFailure) {
                ended.add(entry.path());
            }
        }
        return early.stream()
                .filter(entry -> ended.contains(entry.path()) && carried.isFinal(entry.path()))
                .toList();
    }

    /** The failed step and steps between attempts. Everything else stays; started waits continue. */
    public static List<String> pathsToReopen(List<JournalEntry> journal) {
        ReplayJournalEntrySelector carried = new ReplayJournalEntrySelector(new RunJournalStepIndex(journal));
        List<String> opened = new ArrayList<>();
        carried.memory.steps().forEach((path, trace) -> {
            boolean failed = trace.failed() != null && !carried.isFinal(path);
            boolean tried = trace.done() == null && trace.failed() == null && trace.failedAttempts() > 0;
            if (failed || tried) {
                opened.add(path);
            }
        });
        return opened;
    }

    /** A prefix of the journal is a state that the run once had, so it matches the code at every step. */
    private static List<JournalEntry> before(List<JournalEntry> entries, ReplayOptions terms) {
        for (int i = 0; i < entries.size(); i++) {
            String path = entries.get(i).path();
            // A notification that an earlier replay did not send is missing, unless this replay sends none either.
            boolean unsent = terms.notifications() != ReplayNotificationMode.NONE
                    && entries.get(i) instanceof JournalEntry.StepResult done
                    && done.outcome() == JournalEntry.StepOutcome.SILENT;
            if (path.equals(terms.from()) || terms.redo().contains(path) || unsent) {
                return entries.subList(0, i);
            }
        }
        return entries;
    }

    /** A failure counts as final if the code handled it and continued. */
    private boolean isFinal(String path) {
        if (JournalStepPathFormat.compensationOf(JournalStepPathFormat.scopeOf(path)) != null) {
            return false;
        }
        RunJournalStepIndex.StepRecord trace = memory.stepAt(path);
        return trace != null && (trace.done() != null || trace.failed() != null && hasLaterEntries(path));
    }

    /** Whether anything is recorded after this step, in its scope or in an enclosing one. */
    private boolean hasLaterEntries(String path) {
        String scope = JournalStepPathFormat.scopeOf(path);
        if (!path.equals(last(scope))) {
            return true;
        }
        String around = JournalStepPathFormat.branchesOf(scope);
        return around != null && hasLaterEntries(around);
    }

    private @Nullable String last(String scope) {
        String last = null;
        int place = 0;
        for (String path = memory.expectedPath(scope, 0); path != null; path = memory.expectedPath(scope, ++place)) {
            last = path;
        }
        return last;
    }
}
