package dev.semel.journal;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What it means for a journal that its run failed and went on in place. The journal itself only grows. */
public final class Resumptions {
    /** A run goes on in place at most so often. */
    public static final int MOST = 100;

    /**
     * Executions of a run are counted on from here after each resumption, far beyond those before it: whatever an old one
     * still has to write is known as old, although the count went with the end.
     */
    private static final int APART = 1 << 24;

    private Resumptions() {}

    /** The record of the steps as it counts: what a resumption opened again is left out, and so is what is about the run. */
    public static List<Entry> settled(List<Entry> entries) {
        if (entries.stream().noneMatch(entry -> entry instanceof Entry.Resumed || isAboutAll(entry))) {
            return entries;
        }
        List<Entry> settled = new ArrayList<>(entries.size());
        for (Entry entry : entries) {
            if (entry instanceof Entry.Resumed resumed) {
                Set<String> opened = new HashSet<>(resumed.opened());
                settled.removeIf(before -> opened.contains(before.path()));
            } else if (!isAboutAll(entry)) {
                settled.add(entry);
            }
        }
        return settled;
    }

    /** What a replay was told when it began. */
    private static boolean isAboutAll(Entry entry) {
        return entry instanceof Entry.Redo || entry instanceof Entry.Quiet;
    }

    /** Null: it never did. */
    public static Entry.@Nullable Resumed last(List<Entry> entries) {
        for (int i = entries.size() - 1; i >= 0; i--) {
            if (entries.get(i) instanceof Entry.Resumed resumed) {
                return resumed;
            }
        }
        return null;
    }

    /** How often it did. */
    public static int count(List<Entry> entries) {
        int count = 0;
        for (Entry entry : entries) {
            count += entry instanceof Entry.Resumed ? 1 : 0;
        }
        return count;
    }

    /** The number of executions that a run begins with when it goes on for the n-th time. */
    public static int claims(int n) {
        return n * APART;
    }

    /** Whether the execution with this number is one after a resumption. */
    public static boolean isResumed(int claim) {
        return claim > APART;
    }

    /** The version of its workflow that a run goes by. */
    public static int version(List<Entry> entries, int admitted) {
        Entry.Resumed resumed = last(entries);
        return resumed == null ? admitted : resumed.version();
    }
}
