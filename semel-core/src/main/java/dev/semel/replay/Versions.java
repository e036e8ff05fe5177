package dev.semel.replay;

import dev.semel.workflow.Expected;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The declared steps of the version that a replay uses, and of the other versions that its lineage used.
 *
 * @param next its declared steps; null if unknown, because it is Java code
 * @param others declared steps of other versions that runs of the lineage used
 */
public record Versions(@Nullable List<Expected> next, List<List<Expected>> others) {
    public Versions {
        others = List.copyOf(others);
    }

    /** A lineage whose runs all use one version. */
    public static Versions one(@Nullable List<Expected> declared) {
        return new Versions(declared, List.of());
    }

    /** How a recorded step matches the next version. */
    enum Place {
        /** The same declared step with the same key. */
        SAME,
        /** A step of this kind at this path with another protection or key. */
        CHANGED,
        /** No step of this kind at this path. */
        GONE,
        /** It is Java code and differs from before. */
        UNKNOWN
    }

    Place at(String path, String kind) {
        if (others.isEmpty()) {
            return Place.SAME;
        }
        if (next == null) {
            return Place.UNKNOWN;
        }
        Expected here = find(next, path);
        if (here == null || !here.kind().equals(kind)) {
            return Place.GONE;
        }
        Place place = Place.SAME;
        for (List<Expected> other : others) {
            Expected there = find(other, path);
            if (there != null && !there.place().items().equals(here.place().items())) {
                return Place.GONE; // its items have other names, so results of single items are not found
            }
            place = there == null || there.isLike(here) ? place : Place.CHANGED;
        }
        return place;
    }

    /** Returns null if no declared step has this path. */
    static @Nullable Expected find(List<Expected> declared, String path) {
        for (Expected one : declared) {
            if (one.place().covers(path)) {
                return one;
            }
        }
        return null;
    }
}
