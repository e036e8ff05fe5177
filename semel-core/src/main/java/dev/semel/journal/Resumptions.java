package dev.semel.journal;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Interprets the journal of a run that failed and was resumed in place. The journal itself is append-only. */
public final class Resumptions {
    /** How often a run can be resumed in place. */
    public static final int MOST = 100;

    /**
     * Distance between the claim numbers before and after a resumption. It is so large that late writes of an old
     * execution are always detected, although the end of the run discards its claim count.
     */
    private static final int CLAIM_GAP = 1 << 24;

    private Resumptions() {}

    /** The entries that still count: without reopened steps and without notes about the whole run. */
    public static List<Entry> settled(List<Entry> entries) {
        if (entries.stream().noneMatch(entry -> entry instanceof Entry.Resumed || isAboutRun(entry))) {
            return entries;
        }
        List<Entry> settled = new ArrayList<>(entries.size());
        for (Entry entry : entries) {
            if (entry instanceof Entry.Resumed resumed) {
                Set<String> opened = new HashSet<>(resumed.opened());
                settled.removeIf(before -> opened.contains(before.path()));
            } else if (!isAboutRun(entry)) {
                settled.add(entry);
            }
        }
        return settled;
    }

    /** Whether the entry is a note about the whole run from the start of a replay. */
    private static boolean isAboutRun(Entry entry) {
        return entry instanceof Entry.Redo || entry instanceof Entry.Quiet;
    }

    /** The last resumption; null for none. */
    public static Entry.@Nullable Resumed last(List<Entry> entries) {
        for (int i = entries.size() - 1; i >= 0; i--) {
            if (entries.get(i) instanceof Entry.Resumed resumed) {
                return resumed;
            }
        }
        return null;
    }

    /** The number of resumptions. */
    public static int count(List<Entry> entries) {
        int count = 0;
        for (Entry entry : entries) {
            count += entry instanceof Entry.Resumed ? 1 : 0;
        }
        return count;
    }

    /** The first claim number after the n-th resumption. */
    public static int claims(int n) {
        return n * CLAIM_GAP;
    }

    /** Whether the execution with this claim number runs after a resumption. */
    public static boolean isResumed(int claim) {
        return claim > CLAIM_GAP;
    }

    /** The workflow version that a run uses now. */
    public static int version(List<Entry> entries, int admitted) {
        Entry.Resumed resumed = last(entries);
        return resumed == null ? admitted : resumed.version();
    }
}
