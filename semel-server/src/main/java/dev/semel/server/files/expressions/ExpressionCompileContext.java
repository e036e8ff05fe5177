package dev.semel.server.files.expressions;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The place of an expression in a workflow file, which decides which names it may read.
 *
 * @param earlierSteps steps whose results are known there
 * @param allSteps steps of the file; both sets are shared while the file is read, not copied
 * @param loopVariables names of the loop variables in scope
 */
public record ExpressionCompileContext(
        ContextKind kind, Set<String> earlierSteps, Set<String> allSteps, Set<String> loopVariables) {
    /** The kinds of fields that hold expressions, each with the names it may read. */
    public enum ContextKind {
        /** A trigger's key, derived before anything else is known. */
        KEY("a key", Set.of("input", "header")),
        FINGERPRINT("a fingerprint", Set.of("input")),
        /** `object` and `worth`: texts for users about the trigger. */
        LABEL("object and worth", Set.of("input")),
        GATE("the key of a concurrency rule", Set.of("input")),
        STEP("a step", Set.of("input", "steps", "run", "step")),
        /** The key of an effect. The run id is not available: it differs in a safe replay. */
        EFFECT_KEY("the key of an effect", Set.of("input", "steps", "step")),
        /** A result that is computed from an HTTP response. */
        RESPONSE("a result", Set.of("input", "steps", "run", "step", "response", "attempt")),
        /** A credential: evaluated when the request is sent, and never recorded. */
        CREDENTIAL("a credential", Set.of("input", "steps", "run", "step", "secret", "attempt")),
        /** `trigger.events`: whether an event starts a run, and with which input. */
        EVENT("an event subscription", Set.of("event")),
        OUTPUT("the output", Set.of("input", "steps", "run"));

        final String label;
        final Set<String> names;

        ContextKind(String label, Set<String> names) {
            this.label = label;
            this.names = names;
        }

        /** Whether a step records time and random values before they are read here. */
        boolean recordsRandomness() {
            return this != LABEL && this != EVENT && this != OUTPUT;
        }
    }

    public ExpressionCompileContext {
        earlierSteps = Collections.unmodifiableSet(earlierSteps);
        allSteps = Collections.unmodifiableSet(allSteps);
        loopVariables = Set.copyOf(loopVariables);
    }

    public static ExpressionCompileContext of(ContextKind kind) {
        return new ExpressionCompileContext(kind, Set.of(), Set.of(), Set.of());
    }

    /** The same position in the order of steps, for a field of another kind. */
    public ExpressionCompileContext withKind(ContextKind other) {
        return new ExpressionCompileContext(other, earlierSteps, allSteps, loopVariables);
    }

    /** Whether the file has this step, but it runs later. */
    boolean isLater(String step) {
        return allSteps.contains(step) && !earlierSteps.contains(step);
    }

    Set<String> names() {
        if (loopVariables.isEmpty()) {
            return kind.names;
        }
        Set<String> names = new LinkedHashSet<>(kind.names);
        names.addAll(loopVariables);
        return names;
    }

    /** Whether a name is reserved, so that no loop variable can have it. */
    public static boolean isReserved(String name) {
        return CelEnvironment.VARIABLES.contains(name);
    }

    /** Whether the value must be the same on every attempt, because it protects against duplicates. */
    public boolean mustBeStable() {
        return switch (kind) {
            case KEY, FINGERPRINT, EFFECT_KEY, GATE -> true;
            case LABEL, EVENT, STEP, RESPONSE, CREDENTIAL, OUTPUT -> false;
        };
    }
}
