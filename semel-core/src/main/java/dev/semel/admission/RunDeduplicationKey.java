package dev.semel.admission;

import java.util.Comparator;

/**
 * An identifier that at most one run holds at a time: an idempotency key, a chosen run id, an event, a tick. All
 * trigger sources share one key table, so the run table needs no unique constraint. Keys sort in their lock order,
 * which is the same in Java and in both stores.
 */
public record RunDeduplicationKey(int workspace, KeyKind kind, String text) implements Comparable<RunDeduplicationKey> {
    private static final Comparator<RunDeduplicationKey> ORDER = Comparator.comparingInt(RunDeduplicationKey::workspace)
            .thenComparing(RunDeduplicationKey::kind)
            .thenComparing(RunDeduplicationKey::text);

    /** What a unique key identifies. The codes are stored. */
    public enum KeyKind {
        /** A caller's key, unique in its workspace. */
        KEY(1),
        /** A caller's key in a workflow with `scope: workflow`; the text is key, newline, workflow id. */
        WORKFLOW_KEY(2),
        /** A caller's key with policy `distinct`; the text is key, newline, fingerprint digest. */
        DISTINCT_KEY(3),
        /** A run id chosen by the caller. */
        RUN(4),
        /** A payload, if the workflow flags or rejects the same payload with another key. */
        PAYLOAD(5),
        /** The step of the parent run that started this run. */
        CHILD(6),
        /** An event for one workflow. */
        EVENT(7),
        /** A webhook delivery for one workflow. */
        WEBHOOK(8),
        /** A nominal time of a schedule. */
        TICK(9),
        /** The replay or resumption that follows a run; the text is that run. */
        REPLAY(10);

        private final int code;

        KeyKind(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        /** Whether it identifies one run of one workflow, independent of the workflow's key policy. */
        public boolean namesOneRun() {
            return this == RUN || this == CHILD || this == EVENT || this == WEBHOOK || this == TICK || this == REPLAY;
        }

        public static KeyKind of(int code) {
            for (KeyKind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("no kind of unique key has the code " + code);
        }
    }

    @Override
    public int compareTo(RunDeduplicationKey other) {
        return ORDER.compare(this, other);
    }
}
