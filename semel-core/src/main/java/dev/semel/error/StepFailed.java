package dev.semel.error;

import java.util.ArrayList;
import java.util.List;

/**
 * A step or effect failed and is not tried again. Made from what is on record, so that the code that looks at it takes
 * the same turn in a recovered run as in the first one.
 */
public final class StepFailed extends SemelException {
    private static final String FIX =
            "Remove the cause and replay the run: effects that were done are reused, steps run again.";

    private final String step;
    private final List<String> causeTypes;
    private final int attempts;
    private final String said;
    private String code = ErrorCode.STEP_FAILED.slug();

    public StepFailed(String step, String causeType, String message, int attempts) {
        this(step, List.of(causeType), message, attempts);
    }

    /**
     * @param causeTypes names of the class of the failure and of its superclasses, see {@link #typesOf}
     * @param message what the failure said of itself
     */
    public StepFailed(String step, List<String> causeTypes, String message, int attempts) {
        super(
                ErrorCode.STEP_FAILED,
                "Step \"" + step + "\" failed for good after " + (attempts == 1 ? "1 attempt" : attempts + " attempts")
                        + " with " + causeTypes.getFirst() + (message.isBlank() ? "" : ": " + message)
                        + (message.endsWith(".") ? "" : ".") + " It has no result; what was recorded before it stays.",
                FIX + " Or catch StepFailed in the workflow.");
        this.step = step;
        this.causeTypes = List.copyOf(causeTypes);
        this.attempts = attempts;
        this.said = message;
    }

    private StepFailed(String detail, String step, String reason, String message) {
        super(ErrorCode.STEP_FAILED, detail, FIX);
        this.step = step;
        this.causeTypes = List.of(reason);
        this.attempts = 0;
        this.said = message;
    }

    /**
     * A run failed, as the one who asks for its result is told. What its end has on record is where it was, why it
     * failed, and what was said.
     *
     * @param step the last thing that it asked for; empty where it asked for nothing
     */
    public static StepFailed ofRun(String runId, String step, String reason, String message) {
        String detail = "Run " + runId + " failed" + (step.isEmpty() ? "" : " at \"" + step + "\"") + " with " + reason
                + (message.isBlank() ? "." : ": " + message + (message.endsWith(".") ? "" : "."))
                + " It has no result; what was recorded stays.";
        StepFailed failed = new StepFailed(detail, step, reason, message);
        failed.with("run_id", runId);
        return failed;
    }

    /** Sets the code of the failure itself, where it has one of ours. */
    public StepFailed because(String slug) {
        code = slug;
        return this;
    }

    /** What went wrong, in a word: a code of ours, or the simple name of the failure's class. */
    public String reason() {
        return code.equals(ErrorCode.STEP_FAILED.slug()) ? simpleName(causeType()) : code;
    }

    /** A class as its author calls it; an anonymous one has at least the name of the class around it. */
    public static String simpleName(String className) {
        String name = className.substring(className.lastIndexOf('.') + 1);
        int inner = name.lastIndexOf('$');
        boolean named = inner >= 0 && inner + 1 < name.length() && Character.isLetter(name.codePointAt(inner + 1));
        return named ? name.substring(inner + 1) : name;
    }

    /** What the failure said of itself. */
    public String said() {
        return said;
    }

    /** The names to record of a failure: its class first, then the superclasses up to Throwable. */
    public static List<String> typesOf(Throwable failure) {
        List<String> names = new ArrayList<>();
        for (Class<?> type = failure.getClass(); type != Object.class; type = type.getSuperclass()) {
            names.add(type.getName());
        }
        return names;
    }

    public String step() {
        return step;
    }

    /** The name of the class of the last failure. */
    public String causeType() {
        return causeTypes.getFirst();
    }

    public List<String> causeTypes() {
        return causeTypes;
    }

    /** How often the step was tried; 0 where only the end of a run is known. */
    public int attempts() {
        return attempts;
    }

    /** Whether the last failure was of this class or a subclass of it. */
    public boolean is(Class<? extends Throwable> kind) {
        return causeTypes.contains(kind.getName());
    }
}
