package dev.semel.replay;

import dev.semel.definition.DeclaredStep;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The declared steps of the version that a replay uses, and of the other versions that its lineage used.
 *
 * @param next its declared steps; null if unknown, because it is Java code
 * @param others declared steps of other versions that runs of the lineage used
 */
public record DeclaredVersions(@Nullable List<DeclaredStep> next, List<List<DeclaredStep>> others) {
    public DeclaredVersions {
        others = List.copyOf(others);
    }

    /** A lineage whose runs all use one version. */
    public static DeclaredVersions single(@Nullable List<DeclaredStep> declared) {
        return new DeclaredVersions(declared, List.of());
    }

    /** How a recorded step matches the next version. */
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
        StepMatch place = StepMatch.SAME;
        for (List<DeclaredStep> other : others) {
            DeclaredStep there = find(other, path);
            if (there != null && !there.location().itemKeys().equals(here.location().itemKeys())) {
                return StepMatch.GONE; // its items have other names, so results of single items are not found
            }
            place = there == null || there.isSameAction(here) ? place : StepMatch.CHANGED;
        }
        return place;
    }

    /** Returns null if no declared step has this path. */
    static @Nullable DeclaredStep find(List<DeclaredStep> declared, String path) {
        for (DeclaredStep one : declared) {
            if (one.location().matches(path)) {
                return one;
            }
        }
        return null;
    }
}
