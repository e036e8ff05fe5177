package dev.semel.store;

import java.util.Comparator;

/**
 * A name that at most one run holds at a time. All doors use one table of names, so the run table needs no unique
 * constraint of its own. The order is the order in which rows are locked, the same in Java and in both stores.
 */
public record Name(int workspace, Kind kind, String text) implements Comparable<Name> {
    private static final Comparator<Name> ORDER =
            Comparator.comparingInt(Name::workspace).thenComparing(Name::kind).thenComparing(Name::text);

    public enum Kind {
        /** A caller's key, unique in its workspace. */
        KEY(1),
        /** A caller's key in a workflow with `scope: workflow`; the text is key, newline, workflow id. */
        WORKFLOW_KEY(2),
        /** A caller's key where the fingerprint is part of the name; the text is key, newline, digest. */
        DISTINCT_KEY(3),
        /** A run id that the caller chose. */
        RUN(4),
        /** A payload, where a workflow wants to know of the same one under another key. */
        PAYLOAD(5),
        /** The step of another run that started this one. */
        CHILD(6),
        /** An event for a workflow. */
        EVENT(7),
        /** A delivery of a provider for a workflow. */
        HOOK(8),
        /** A nominal time of a schedule. */
        TICK(9),
        /** The replay that follows a run; the text is that run. */
        REPLAY(10);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        /** Whether it names one run of one workflow, whatever the workflow says of keys. */
        public boolean isExact() {
            return this == RUN || this == CHILD || this == EVENT || this == HOOK || this == TICK || this == REPLAY;
        }

        public static Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("no kind of name has the code " + code);
        }
    }

    @Override
    public int compareTo(Name other) {
        return ORDER.compare(this, other);
    }
}
