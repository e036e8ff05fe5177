package dev.semel.replay;

import dev.semel.definition.DeclaredStep;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code next}: null if unknown, because it is Java code. {@code others}: versions that runs of the lineage used. */
public record ReplayDeclaredStepsByVersion(@Nullable List<DeclaredStep> next, List<List<DeclaredStep>> others) {
    public ReplayDeclaredStepsByVersion {
        others = List.copyOf(others);
    }

    /** A lineage whose runs all use one version. */
    public static ReplayDeclaredStepsByVersion single(@Nullable List<DeclaredStep> declared) {
        return new ReplayDeclaredStepsByVersion(declared, List.of());
    }

    enum StepMatch {
        /** The same declared step with the same key. */
        SAME,
        /** A step of this kind at this path with another protection or key. */
        CHANGED,
        /** No step of this kind at this path. */
        GONE,
        /** It is Java code and differs from before. */
        UNKNOWN
    }

    StepMatch match(String path, String kind) {
        if (others.isEmpty()) {
            return StepMatch.SAME;
        }
        if (next == null) {
            return StepMatch.UNKNOWN;
        }
        DeclaredStep here = find(next, path);
        if (here == null || !here.kind().equals(kind)) {
            return StepMatch.GONE;
        }
        StepMatch stepMatch = StepMatch.SAME;
        for (List<DeclaredStep> other : others) {
            DeclaredStep there = find(other, path);
            if (there != null
                    && !there.location().itemKeys().equals(here.location().itemKeys())) {
                return StepMatch.GONE; // its items have other names, so results of single items are not found
            }
            stepMatch = there == null || there.isSameAction(here) ? stepMatch : StepMatch.CHANGED;
        }
        return stepMatch;
    }

    static @Nullable DeclaredStep find(List<DeclaredStep> declared, String path) {
        for (DeclaredStep one : declared) {
            if (one.location().matches(path)) {
                return one;
            }
        }
        return null;
    }
}
