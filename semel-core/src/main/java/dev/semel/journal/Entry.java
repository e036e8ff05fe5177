package dev.semel.journal;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One line of a run's memory. */
public sealed interface Entry {
    /** Where in the run: the scope and the name of what was asked for. */
    String path();

    Kind kind();

    long at();

    /** What a workflow may ask for. The words are stored. */
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

    /** How it came to its result. The words are stored. */
    enum How {
        /** It was done, or its time came. */
        DONE,
        /** The outside world was asked and had it. */
        FOUND,
        /** The outside world said that it has it already. */
        ALREADY_DONE,
        /** A run that this one replays did it, or a person said that it happened. */
        REUSED,
        /** Another run did it inside the window. */
        SUPPRESSED,
        /** It was sent once and nobody knows how it ended. */
        INDETERMINATE,
        TIMED_OUT,
        /** It failed, and a person gave the result with which the run went on. */
        SKIPPED,
        /** It is a notification, and a replay that sends none came to it. */
        SILENT;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static How of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * It has a result, for ever. {@code ref}: the signal that was taken, the run that did it, or who skipped it and why, a
     * line each.
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

    /** It failed for good. */
    record Failed(String path, Kind kind, long at, Problem problem, int attempts) implements Entry {}

    /** An attempt failed, and the next one is due then. */
    record Tried(String path, Kind kind, long at, Problem problem, int attempt, long due) implements Entry {}

    /** It has begun and waits. {@code due}: until when, 0 for ever. {@code ref}: the run that was started. */
    record Begun(
            String path,
            Kind kind,
            long at,
            long due,
            @Nullable String ref) implements Entry {}

    /**
     * The run had failed, and somebody let it go on in place.
     *
     * @param opened paths whose end, or whose attempts, count no more: they are asked for anew
     * @param version of the workflow that the run goes by from here on
     */
    record Resumed(long at, String by, String reason, List<String> opened, int version) implements Entry {
        public Resumed {
            opened = List.copyOf(opened);
        }

        /** It is about the run, and at no step. */
        @Override
        public String path() {
            return "";
        }

        @Override
        public Kind kind() {
            return Kind.STEP;
        }
    }

    /** Of a safe replay: these steps are done again on purpose, although another run of its lineage has done them. */
    record Redo(long at, List<String> paths) implements Entry {
        public Redo {
            paths = List.copyOf(paths);
        }

        /** It is about the run, and at no step. */
        @Override
        public String path() {
            return "";
        }

        @Override
        public Kind kind() {
            return Kind.STEP;
        }
    }

    /** Of a safe replay: notifications that are not on record are not sent. */
    record Quiet(long at) implements Entry {
        /** It is about the run, and at no step. */
        @Override
        public String path() {
            return "";
        }

        @Override
        public Kind kind() {
            return Kind.STEP;
        }
    }

    /** What went wrong: our code for it, the class of the failure and its superclasses, its text. */
    record Problem(String code, List<String> types, String message) {
        public Problem {
            types = List.copyOf(types);
        }
    }
}
