package dev.semel.journal;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Interprets the journal of a run that failed and was resumed in place. The journal itself is append-only. */
public final class ResumedRunJournalReader {
    /** How often a run can be resumed in place. */
    public static final int MAX_RESUMPTIONS = 100;

    /** Late writes of an old execution are always detected, although the end of the run discards its claim count. */
    private static final int CLAIM_GAP = 1 << 24;

    private ResumedRunJournalReader() {}

    /** The entries that still count: without reopened steps and without notes about the whole run. */
    public static List<JournalEntry> effectiveEntries(List<JournalEntry> entries) {
        if (entries.stream().noneMatch(entry -> entry instanceof JournalEntry.RunResumption || isAboutRun(entry))) {
            return entries;
        }
        List<JournalEntry> settled = new ArrayList<>(entries.size());
        for (JournalEntry entry : entries) {
            if (entry instanceof JournalEntry.RunResumption resumed) {
                Set<String> opened = new HashSet<>(resumed.reopened());
                settled.removeIf(before -> opened.contains(before.path()));
            } else if (!isAboutRun(entry)) {
                settled.add(entry);
            }
        }
        return settled;
    }

    /** Whether the entry is a note about the whole run from the start of a replay. */
    private static boolean isAboutRun(JournalEntry entry) {
        return entry instanceof JournalEntry.RedoRequest || entry instanceof JournalEntry.NotificationMute;
    }

    public static JournalEntry.@Nullable RunResumption last(List<JournalEntry> entries) {
        for (int i = entries.size() - 1; i >= 0; i--) {
            if (entries.get(i) instanceof JournalEntry.RunResumption resumed) {
                return resumed;
            }
        }
        return null;
    }

    public static int count(List<JournalEntry> entries) {
        int count = 0;
        for (JournalEntry entry : entries) {
            count += entry instanceof JournalEntry.RunResumption ? 1 : 0;
        }
        return count;
    }

    public static int firstClaim(int n) {
        return n * CLAIM_GAP;
    }

    public static boolean isAfterResumption(int claim) {
        return claim > CLAIM_GAP;
    }

    public static int effectiveVersion(List<JournalEntry> entries, int admitted) {
        JournalEntry.RunResumption resumed = last(entries);
        return resumed == null ? admitted : resumed.version();
    }
}
