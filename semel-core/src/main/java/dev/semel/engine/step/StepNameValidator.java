package dev.semel.engine.step;

import dev.semel.definition.EffectSpec;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StorableText;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.workflow.EscalationPolicy;
import org.jspecify.annotations.Nullable;

public final class StepNameValidator {
    private static final int LONGEST_NAME = 1_000;
    private static final int LONGEST_KEY = 4_000;
    private static final int LONGEST_PATH = 8_000;

    private StepNameValidator() {}

    /** Rejects a name that no store can hold; with it the run could never end. */
    static void rejectUnstorable(String name, String scope) {
        if (name.isEmpty() || name.length() > LONGEST_NAME || !StorableText.isStorable(name)) {
            throw rejection(
                    "The name of a step, forEach or compensation is empty, longer than " + LONGEST_NAME
                            + " characters, or contains a NUL character or an unpaired surrogate",
                    "Use a short name of letters and digits.");
        }
        if (scope.length() > LONGEST_PATH) {
            throw rejection(
                    "\"" + toDisplay(JournalStepPathFormat.of("", name))
                            + "\" is nested too deep: the names of its enclosing scopes together have more than "
                            + LONGEST_PATH + " characters",
                    "Use fewer nested forEach calls, or move a part into a child workflow.");
        }
    }

    /** Rejects an unstorable item key; it becomes part of every path below it. */
    public static void rejectUnstorableKey(String name, String key, int number) {
        if (key.isEmpty() || key.length() > LONGEST_KEY || !StorableText.isStorable(key)) {
            throw rejection(
                    "The key of item " + number + " of forEach \"" + toDisplay(name) + "\" is empty, longer than "
                            + LONGEST_KEY + " characters, or contains a NUL character or an unpaired surrogate",
                    "Give each item a short key, such as an id.");
        }
    }

    /**
     * Rejects an effect with a text that no store can hold, before anything is reserved or sent. Otherwise the run could
     * never record the effect, and other runs of its entity would wait for it.
     */
    public static void rejectUnstorableEffect(EffectSpec plan, String path) {
        EffectSpec.BusinessRecord business = plan.businessRecord();
        rejectUnstorableText("key", plan.key(), path);
        rejectUnstorableText("object", business.object(), path);
        rejectUnstorableText("worth", business.worth(), path);
        rejectUnstorableReviewer(plan.reviewer(), plan.reviewOptions().escalation(), path);
    }

    public static void rejectUnstorableReviewer(String reviewer, EscalationPolicy escalation, String path) {
        rejectUnstorableText("reviewer", reviewer, path);
        rejectUnstorableText("reviewer of the escalation", escalation.escalateTo(), path);
    }

    private static void rejectUnstorableText(String what, @Nullable String text, String path) {
        if (text != null && !StorableText.isStorable(text)) {
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "The " + what + " of \"" + toDisplay(path)
                                    + "\" contains a NUL character or an unpaired surrogate, which no store can hold."
                                    + " The step did not run.",
                            "Send data without these characters, or escape them. In a workflow file, key(…) escapes"
                                    + " them.")
                    .with("step", path);
        }
    }

    private static SemelException rejection(String why, String fix) {
        return new SemelException(ErrorCode.INVALID_DEFINITION, why + ". It did not run.", fix);
    }

    static SemelException misuseError(String path, String how) {
        return new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "\"" + toDisplay(path) + "\" was called " + how + ". It did not run.",
                        "Use the context only in the workflow body, on the thread that runs the body. For parallel"
                                + " work, use forEach. In a compensation, use the context that is passed to it.")
                .with("step", path);
    }

    public static String toDisplay(String path) {
        return JournalStepPathFormat.isBranches(path) ? path.substring(0, path.length() - 2) : path;
    }

    static String lastSegment(String path) {
        return path.substring(JournalStepPathFormat.scopeOf(path).length());
    }
}
