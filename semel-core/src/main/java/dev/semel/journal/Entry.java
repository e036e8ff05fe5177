package dev.semel.journal;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One entry in the journal of a run: the result, failure, attempt or wait of a step, or a note about the whole run. */
public sealed interface Entry {
    /** The step path: scope and name. */
    String path();

    Kind kind();

    long at();

    /** The kind of step that an entry records. The words are stored. */
    enum Kind {
        STEP,
        EFFECT,
        TX,
        SLEEP,
        AWAIT,
        APPROVAL,
        CALL,
        SIGNAL,
        NOW,
        UUID,
        RANDOM,
        STATUS;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Kind of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    /** How a step got its result. The words are stored. */
    enum How {
        /** It was executed, or its time came. */
        DONE,
        /** A lookup at the provider found it. */
        FOUND,
        /** The provider reported that it was done already. */
        ALREADY_DONE,
        /** A run that this one replays did it, or a user decided that it happened. */
        REUSED,
        /** Another run did it inside the window. */
        SUPPRESSED,
        /** It was sent once and the outcome is unknown. */
        INDETERMINATE,
        TIMED_OUT,
        /** It failed, and a user supplied the result with which the run continued. */
        SKIPPED,
        /** A notification that a replay without notifications did not send. */
        SILENT;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static How of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * The final result of a step. {@code ref}: the consumed signal, the run that produced the result, or who skipped it
     * and why, one line each.
     */
    record Done(
            String path,
            Kind kind,
            long at,
            JsonNode result,
            How how,
            int attempts,
            @Nullable String ref) implements Entry {
        public static Done plain(String path, Kind kind, long at, JsonNode result) {
            return new Done(path, kind, at, result, How.DONE, 1, null);
        }
    }

    /** The final failure of a step. */
    record Failed(String path, Kind kind, long at, Problem problem, int attempts) implements Entry {}

    /** A failed attempt, and when the next one is due. */
    record Tried(String path, Kind kind, long at, Problem problem, int attempt, long due) implements Entry {}

    /**
     * A step that started to wait. {@code due}: until when, 0 without limit. {@code ref}: the child run that it
     * started.
     */
    record Begun(
            String path,
            Kind kind,
            long at,
            long due,
            @Nullable String ref) implements Entry {}

    /**
     * A user resumed the failed run in place.
     *
     * @param opened paths whose result or attempts no longer count: they run again
     * @param version of the workflow that the run uses from here on
     */
    record Resumed(long at, String by, String reason, List<String> opened, int version) implements Entry {
        public Resumed {
            opened = List.copyOf(opened);
        }

        /** An entry about the run has no step. */
        @Override
        public String path() {
            return "";
        }

        @Override
        public Kind kind() {
            return Kind.STEP;
        }
    }

    /** Note of a safe replay: these steps run again on purpose, although another run of the lineage has done them. */
    record Redo(long at, List<String> paths) implements Entry {
        public Redo {
            paths = List.copyOf(paths);
        }

        /** An entry about the run has no step. */
        @Override
        public String path() {
            return "";
        }

        @Override
        public Kind kind() {
            return Kind.STEP;
        }
    }

    /** Note of a safe replay: notifications that are not recorded are not sent. */
    record Quiet(long at) implements Entry {
        /** An entry about the run has no step. */
        @Override
        public String path() {
            return "";
        }

        @Override
        public Kind kind() {
            return Kind.STEP;
        }
    }

    /** An error: code, exception class with its superclasses, and message. */
    record Problem(String code, List<String> types, String message) {
        public Problem {
            types = List.copyOf(types);
        }
    }
}
