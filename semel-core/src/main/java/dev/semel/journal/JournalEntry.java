package dev.semel.journal;

import dev.semel.json.UnparsedJson;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** One entry in the journal of a run: the result, failure, attempt or wait of a step, or a note about the whole run. */
public sealed interface JournalEntry {
    /** The step path: scope and name. */
    String path();

    EntryKind kind();

    long at();

    /** The kind of step that an entry records. The words are stored. */
    enum EntryKind {
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

        static EntryKind of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    /** How a step got its result. The words are stored. */
    enum StepOutcome {
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

        static StepOutcome of(String word) {
            return valueOf(word.toUpperCase(Locale.ROOT));
        }
    }

    /** {@code ref}: the consumed signal, the run that produced the result, or who skipped it and why, one line each. */
    record StepResult(
            String path,
            EntryKind kind,
            long at,
            JsonNode result,
            StepOutcome outcome,
            int attempts,
            @Nullable String ref)
            implements JournalEntry {
        public static StepResult plain(String path, EntryKind kind, long at, JsonNode result) {
            return new StepResult(path, kind, at, result, StepOutcome.DONE, 1, null);
        }

        /** Keeps the result as text, which is parsed when it is read. */
        StepResult withUnparsedResult() {
            return new StepResult(path, kind, at, UnparsedJson.compact(result), outcome, attempts, ref);
        }

        @Override
        public JsonNode result() {
            return UnparsedJson.parse(result);
        }

        /** Returns a copy that the caller may change. */
        public JsonNode copyOfResult() {
            return UnparsedJson.parseCopy(result);
        }
    }

    record StepFailure(String path, EntryKind kind, long at, ErrorDetails error, int attempts)
            implements JournalEntry {}

    /**
     * @param due when the next attempt is due; 0 if it depends on a decision, {@link #NO_NEXT} if the attempts have ended
     * @param unsent whether the request was certainly not sent
     * @param startedAt when the attempt began; 0 if that is not recorded
     */
    record AttemptFailure(
            String path,
            EntryKind kind,
            long at,
            ErrorDetails error,
            int attempt,
            long due,
            boolean unsent,
            long startedAt)
            implements JournalEntry {
        /** The attempts have ended with an unknown outcome, which stops the run. */
        public static final long NO_NEXT = -1;

        public AttemptFailure(String path, EntryKind kind, long at, ErrorDetails error, int attempt, long due) {
            this(path, kind, at, error, attempt, due, false, 0);
        }
    }

    /** {@code due}: until when, 0 without limit. {@code ref}: the child run that it started, or the options of an effect's review as JSON. */
    record WaitStart(
            String path,
            EntryKind kind,
            long at,
            long due,
            @Nullable String ref) implements JournalEntry {}

    /** An entry about the whole run. It has no step. */
    sealed interface RunEntry extends JournalEntry {
        @Override
        default String path() {
            return "";
        }

        @Override
        default EntryKind kind() {
            return EntryKind.STEP;
        }
    }

    /**
     * @param reopened paths whose result or attempts no longer count: they run again
     * @param version of the workflow that the run uses from here on
     */
    record RunResumption(long at, String by, String reason, List<String> reopened, int version) implements RunEntry {
        public RunResumption {
            reopened = List.copyOf(reopened);
        }
    }

    /** Note of a safe replay: these steps run again on purpose, although another run of the lineage has done them. */
    record RedoRequest(long at, List<String> paths) implements RunEntry {
        public RedoRequest {
            paths = List.copyOf(paths);
        }
    }

    /** Note of a safe replay: notifications that are not recorded are not sent. */
    record NotificationMute(long at) implements RunEntry {}

    /** An error: code, exception class with its superclasses, and message. */
    record ErrorDetails(String code, List<String> types, String message) {
        public ErrorDetails {
            types = List.copyOf(types);
        }
    }
}
