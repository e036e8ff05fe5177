package dev.semel.store;

import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is done about reviews: questions that runs put to people. A question is one row, named after its run and its step;
 * put again after a decision it is the same row with the next version. Each of these is one transaction of its own.
 */
public sealed interface Review<T> {
    enum Kind {
        /** An effect was sent, and how it ended is not known. */
        DOUBT(1),
        /** A message differs from what was accepted inside its window. */
        CHANGE(2),
        APPROVAL(3),
        /** A run is held: its code does not fit, its workers died with it, or the store refused a value. */
        HELD(4);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public static Kind of(int code) {
            for (Kind kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("no kind of review has the code " + code);
        }
    }

    /** The step of a question that is about the run as a whole; no step is called like this. */
    String WHOLE_RUN = "#held";

    /** How a question ended that nobody answered in time. */
    String TIMED_OUT = "timed_out";

    /** The id of the question that a run asks at a step: the same for ever, whoever reckons it. */
    static String id(RunId run, String step) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(run.bytes());
            byte[] hash = sha.digest(step.getBytes(StandardCharsets.UTF_8));
            return "rev_" + HexFormat.of().formatHex(hash, 0, 10);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /**
     * A question as it stands.
     *
     * @param version counts how often it was asked; a decision is about one version
     * @param effect digest of the effect in doubt; empty where it is about none
     * @param reviewer who is to decide, e.g. `role:ops`
     * @param question what people are told, as JSON text
     * @param dueAt when it should be decided; {@link Write.Rest#NEVER} where nobody said
     * @param nextAt when somebody is to be told of it next; {@link Write.Rest#NEVER} for no more
     * @param decidedAt 0 while it is open
     */
    record Row(
            int ws,
            String id,
            RunId run,
            String step,
            String workflowId,
            Kind kind,
            int version,
            String effect,
            String reviewer,
            String question,
            long askedAt,
            long dueAt,
            long nextAt,
            long decidedAt,
            String decision,
            String decidedBy,
            String note) {
        public boolean isOpen() {
            return decidedAt == 0;
        }

        /**
         * Whether that question is answered by this one. What a run left when it ended gives way to what its code asks, and
         * a question about one message to that about another.
         */
        public boolean standsFor(Question other) {
            return isOpen()
                    && kind == other.kind()
                    && (!Question.isLeft(question) || Question.isLeft(other.text()))
                    && Question.content(question).equals(other.content());
        }

        /** The signal that carries the decision; null where it is carried by something else. */
        public @Nullable String signal() {
            return Question.signal(kind, step, question);
        }

        public Row decided(long at, Decided how) {
            return new Row(
                    ws,
                    id,
                    run,
                    step,
                    workflowId,
                    kind,
                    version,
                    effect,
                    reviewer,
                    question,
                    askedAt,
                    dueAt,
                    nextAt,
                    at,
                    how.decision(),
                    how.by(),
                    how.note());
        }

        public Row told(long next, String to) {
            return new Row(
                    ws,
                    id,
                    run,
                    step,
                    workflowId,
                    kind,
                    version,
                    effect,
                    to,
                    question,
                    askedAt,
                    dueAt,
                    next,
                    decidedAt,
                    decision,
                    decidedBy,
                    note);
        }
    }

    record Decided(String decision, String by, String note) {}

    /**
     * What is asked.
     *
     * @param effect digest of the effect in doubt; empty where it is about none
     * @param dueIn microseconds until it should be decided; 0 where nobody said
     */
    record Question(Kind kind, String step, String effect, String reviewer, String text, long dueIn) {
        /** What the text says of an effect that a run left in doubt when it ended: nobody knows what its code would ask. */
        public static final String LEFT = "left";

        /** What the text says of a message that has changed: the digest of what is to be sent, so that no other is meant. */
        public static final String CONTENT = "content";

        private static boolean isLeft(String text) {
            return text.contains("\"" + LEFT + "\":true");
        }

        /** The digest of the message that is asked about; empty where it is about none. */
        public String content() {
            return content(text);
        }

        // Inside of a value a quote has a backslash before it, so that this is found as a member or not at all.
        private static String content(String text) {
            String member = "\"" + CONTENT + "\":\"";
            int at = text.indexOf(member);
            return at < 0 ? "" : text.substring(at + member.length(), text.indexOf('"', at + member.length()));
        }

        /**
         * The signal that carries the decision; null where it is carried by something else. A decision about a message
         * names the message: it does not count for another one that the same step wants to send later.
         */
        public @Nullable String signal() {
            return signal(kind, step, text);
        }

        private static @Nullable String signal(Kind kind, String step, String text) {
            return switch (kind) {
                case APPROVAL -> "#approval:" + step;
                case CHANGE -> changed(step, content(text));
                case DOUBT, HELD -> null;
            };
        }

        /** The signal that carries the decision about this message of a step. */
        public static String changed(String step, String content) {
            return content.isEmpty() ? "#review:" + step : "#review:" + step + "#" + content;
        }
    }

    /**
     * Asks, once: a question that is open stays as it is. One about an effect that another run asks about already is not
     * asked twice.
     */
    record Ask(Write.Driver by, int workspace, String workflowId, Question question) implements Review<Asked> {}

    enum Asked {
        ASKED,
        /** It is decided already, and whoever asks finds that when it looks. */
        SETTLED,
        /** The run has ended or is driven by another execution. */
        GONE
    }

    /**
     * Decides a version of a question and does what the decision says, or does nothing.
     *
     * @param version the one that is meant; 0 for whichever is open
     * @param deed carries the decision to its run; it says whether it was done
     */
    record Rule(int workspace, String id, int version, String decision, Edit<?> deed, Edit.By by)
            implements Review<Ruled> {}

    sealed interface Ruled {
        record Done(Row row) implements Ruled {}

        /** Somebody was first, or another version is asked by now, or it is not asked any more. Nothing was done. */
        record Lost(Row row) implements Ruled {}

        record Absent() implements Ruled {}
    }

    /** A question that waited for too long is over; a decision that came before is told. */
    record Lapse(Write.Driver by, int workspace, Question question) implements Review<Asked> {}

    /**
     * Somebody was told what was to be told at that time. False: somebody else wrote that down before.
     *
     * @param reviewer who is to decide from now on
     */
    record Told(int workspace, String id, long nominal, long next, String reviewer) implements Review<Boolean> {}

    /** Questions to the store about questions to people. */
    interface Desk {
        @Nullable
        Row one(int ws, String id);

        /** All that a run asked, the oldest first. */
        List<Row> of(RunId run);

        /** Open ones, what is due first at the front. */
        Page open(Filter filter);

        /** Decided ones, the newest first. */
        List<Row> decided(int ws, @Nullable Place before, int limit);

        /**
         * Open ones of which somebody is to be told by then, of all workspaces; also those that cannot be decided any more,
         * so that whoever tells stops looking at them.
         */
        List<Row> tell(long now, int limit);

        /** Whether it is still asked, by what the list of open ones looks at: the ledger, or the run. */
        boolean isAsked(Row row);

        /** The open question about that effect: where there are several, the one that was asked last. */
        @Nullable
        Row about(int ws, String effect);
    }

    /** What was found among those that were looked at, and behind which to go on; null at the end. */
    record Page(List<Row> found, @Nullable Place next) {}

    /** A place in a list; {@code asked} counts in the list of open ones only. */
    record Place(long at, long asked, String id) {
        public static final Place FRONT = new Place(Long.MIN_VALUE, Long.MIN_VALUE, "");

        public static Place due(Row row) {
            return new Place(row.dueAt(), row.askedAt(), row.id());
        }

        public static Place decided(Row row) {
            return new Place(row.decidedAt(), 0, row.id());
        }
    }

    record Filter(
            int ws,
            @Nullable Kind kind,
            @Nullable String workflowId,
            @Nullable String reviewer,
            Place after,
            int limit) {
        /** So many are looked at for one page. */
        public static final int LOOKED_AT = 10_000;
    }
}
