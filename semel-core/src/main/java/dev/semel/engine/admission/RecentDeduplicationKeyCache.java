package dev.semel.engine.admission;

import dev.semel.admission.RunDeduplicationKey;

/** May be wrong, which costs one extra read or one failed insert; the store decides. */
final class RecentDeduplicationKeyCache {
    private static final int SIZE = 1 << 18;
    private final long[] marks = new long[SIZE];

    boolean mayContain(RunDeduplicationKey name) {
        long mark = mark(name);
        return marks[(int) mark & (SIZE - 1)] == mark;
    }

    void add(RunDeduplicationKey name) {
        long mark = mark(name);
        marks[(int) mark & (SIZE - 1)] = mark;
    }

    private static long mark(RunDeduplicationKey name) {
        String text = name.text();
        long hash = name.workspace() * 0x9E3779B97F4A7C15L + name.kind().code();
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001B3L;
        }
        hash ^= hash >>> 32;
        return hash == 0 ? 1 : hash;
    }
}
