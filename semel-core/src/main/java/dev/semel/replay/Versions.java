package dev.semel.replay;

import dev.semel.workflow.Expected;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the version that a replay goes by says beforehand, beside those by which the runs before it went.
 *
 * @param next everything that it declares; null where nobody knows beforehand, because it is code
 * @param others what other versions declare by which runs of the lineage went; empty where there are none
 */
public record Versions(@Nullable List<Expected> next, List<List<Expected>> others) {
    public Versions {
        others = List.copyOf(others);
    }

    /** Where all runs of a lineage go by one version. */
    public static Versions one(@Nullable List<Expected> declared) {
        return new Versions(declared, List.of());
    }

    /** How the version that comes next has a place of the record. */
    enum Place {
        /** The same deed under the same key, for all that is written. */
        SAME,
        /** A deed of this kind at this place, which is protected or named in another way. */
        CHANGED,
        /** Nothing of this kind is there. */
        GONE,
        /** It is code, and other code than before. */
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
                return Place.GONE; // its items have other names, so that what one of them did is not found again
            }
            place = there == null || there.isLike(here) ? place : Place.CHANGED;
        }
        return place;
    }

    /** Null: no such place is declared. */
    static @Nullable Expected find(List<Expected> declared, String path) {
        for (Expected one : declared) {
            if (one.place().covers(path)) {
                return one;
            }
        }
        return null;
    }
}
