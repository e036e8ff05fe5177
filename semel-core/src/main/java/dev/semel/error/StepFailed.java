package dev.semel.error;

import java.util.ArrayList;
import java.util.List;

/**
 * Thrown when a step or effect failed permanently, or a run failed because of one.
 * It is built from the journal, so that code which inspects it behaves the same in a recovered run.
 */
public final class StepFailed extends SemelException {
    private static final String FIX =
            "Fix the cause and replay the run. A replay runs the steps again and does not repeat recorded effects.";

    private final String step;
    private final List<String> causeTypes;
    private final int attempts;
    private final String failureMessage;
    private String code = ErrorCode.STEP_FAILED.slug();

    public StepFailed(String step, String causeType, String message, int attempts) {
        this(step, List.of(causeType), message, attempts);
    }

    /**
     * @param causeTypes class names of the failure and its superclasses, see {@link #classNamesOf}
     * @param message the message of the failure
     */
    public StepFailed(String step, List<String> causeTypes, String message, int attempts) {
        super(
                ErrorCode.STEP_FAILED,
                "Step \"" + step + "\" failed permanently after "
                        + (attempts == 1 ? "1 attempt" : attempts + " attempts")
                        + " with " + causeTypes.getFirst() + (message.isBlank() ? "" : ": " + message)
                        + (message.endsWith(".") ? "" : ".")
                        + " The step has no result; earlier recorded results remain.",
                FIX + " Or catch StepFailed in the workflow.");
        this.step = step;
        this.causeTypes = List.copyOf(causeTypes);
        this.attempts = attempts;
        this.failureMessage = message;
    }

    private StepFailed(String detail, String step, String reason, String message) {
        super(ErrorCode.STEP_FAILED, detail, FIX);
        this.step = step;
        this.causeTypes = List.of(reason);
        this.attempts = 0;
        this.failureMessage = message;
    }

    /**
     * The error for callers that request the result of a failed run.
     *
     * @param step the last step that the run requested; empty if it requested none
     */
    public static StepFailed ofRun(String runId, String step, String reason, String message) {
        String detail = "Run " + runId + " failed" + (step.isEmpty() ? "" : " at \"" + step + "\"") + " with " + reason
                + (message.isBlank() ? "." : ": " + message + (message.endsWith(".") ? "" : "."))
                + " The run has no result; recorded step results remain.";
        StepFailed failed = new StepFailed(detail, step, reason, message);
        failed.with("run_id", runId);
        return failed;
    }

    /** Sets the Semel error code of the failure, if it has one. */
    public StepFailed withCode(String slug) {
        code = slug;
        return this;
    }

    /** The reason of the failure: a Semel error code, or the simple name of the exception's class. */
    public String reason() {
        return code.equals(ErrorCode.STEP_FAILED.slug()) ? simpleName(causeType()) : code;
    }

    /** The simple name of a class; for an anonymous class, the name that contains its outer class. */
    public static String simpleName(String className) {
        String name = className.substring(className.lastIndexOf('.') + 1);
        int inner = name.lastIndexOf('$');
        boolean named = inner >= 0 && inner + 1 < name.length() && Character.isLetter(name.codePointAt(inner + 1));
        return named ? name.substring(inner + 1) : name;
    }

    /** The message of the failure. */
    public String failureMessage() {
        return failureMessage;
    }

    /** The class names to record for a failure: its class, then its superclasses up to Throwable. */
    public static List<String> classNamesOf(Throwable failure) {
        List<String> names = new ArrayList<>();
        for (Class<?> type = failure.getClass(); type != Object.class; type = type.getSuperclass()) {
            names.add(type.getName());
        }
        return names;
    }

    /**
     * Whether the effect happened and only its result could not be recorded. Such an effect counts as sent: do not send
     * it in another way.
     */
    public boolean effectHappened() {
        return reason().equals(ErrorCode.RESULT_NOT_RECORDABLE.slug());
    }

    public String step() {
        return step;
    }

    /** The class name of the last failure. */
    public String causeType() {
        return causeTypes.getFirst();
    }

    public List<String> causeTypes() {
        return causeTypes;
    }

    /** Number of attempts of the step; 0 for the failure of a run. */
    public int attempts() {
        return attempts;
    }

    /** Whether the last failure was an instance of this class. */
    public boolean is(Class<? extends Throwable> kind) {
        return causeTypes.contains(kind.getName());
    }
}
