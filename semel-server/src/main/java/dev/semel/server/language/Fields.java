package dev.semel.server.language;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads typed fields from one map of a YAML file and reports unknown or invalid fields.
 *
 * <p>A field that the format reserves is reported as not available yet; any other unknown field gets a spelling
 * suggestion.
 */
public final class Fields {
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(365);

    private final Tree.Members map;
    private final String where;
    private final Problems problems;

    /** @param where name of this map in messages, e.g. `idempotency` */
    public Fields(Tree.Members map, String where, Problems problems) {
        this.map = map;
        this.where = where;
        this.problems = problems;
    }

    /** A reader of a field that must be a map; null if it is absent or not a map. */
    public static @Nullable Fields of(@Nullable Tree tree, String where, Problems problems) {
        if (tree instanceof Tree.Members members) {
            return new Fields(members, where, problems);
        }
        if (tree != null) {
            problems.add(tree.spot(), "%s must be a map, not %s.".formatted(where, tree.kind()));
        }
        return null;
    }

    public Fields allow(Set<String> known, Set<String> notYet) {
        map.members().forEach((name, member) -> {
            if (notYet.contains(name)) {
                problems.add(
                        member.name(),
                        "%s is not available yet in this version.".formatted(qualified(name)),
                        "not available yet",
                        Problems.FIX);
            } else if (!known.contains(name)) {
                String meant = Texts.didYouMean(name, known);
                String shown = Texts.shortened(name);
                problems.add(
                        member.name(),
                        "'%s' is not a field of %s.%s".formatted(shown, where, meant),
                        "unknown",
                        "Known fields: %s.".formatted(String.join(", ", new TreeSet<>(known))));
            }
        });
        return this;
    }

    private String qualified(String name) {
        // "a step" and "a workflow" are descriptions, not the start of a path.
        return where.contains(" ") ? "'" + name + "'" : where + "." + name;
    }

    public Tree.Members map() {
        return map;
    }

    @Nullable
    public Tree get(String name) {
        return map.get(name);
    }

    public Spot spot() {
        return map.spot();
    }

    /** The position of a field's name, or the start of the map if it is absent. */
    public Spot spotOf(String name) {
        Tree.Member member = map.members().get(name);
        return member == null
                ? map.spot().narrowed(map.spot().start(), map.spot().start())
                : member.name();
    }

    /** The position of a field's value, or the start of the map if it is absent. */
    public Spot spotOfValue(String name) {
        Tree value = map.get(name);
        return value == null ? spotOf(name) : value.spot();
    }

    @Nullable
    public String text(String name) {
        Tree tree = map.get(name);
        if (tree == null) {
            return null;
        }
        if (tree instanceof Tree.Scalar(Spot _, var value) && value.isString()) {
            return value.stringValue();
        }
        problems.add(tree.spot(), "%s must be text, not %s.".formatted(qualified(name), tree.kind()));
        return null;
    }

    public boolean flag(String name, boolean otherwise) {
        Tree tree = map.get(name);
        if (tree == null) {
            return otherwise;
        }
        if (tree instanceof Tree.Scalar(Spot _, var value) && value.isBoolean()) {
            return value.booleanValue();
        }
        problems.add(tree.spot(), "%s must be true or false, not %s.".formatted(qualified(name), tree.kind()));
        return otherwise;
    }

    /** A duration from 1 s to 365 d, written as `30s`, `15m`, `24h` or `7d`. */
    public @Nullable Duration duration(String name) {
        Tree tree = map.get(name);
        String text = text(name);
        if (tree == null || text == null) {
            return null;
        }
        Optional<Duration> length = Durations.parse(text);
        if (length.isEmpty()) {
            problems.add(tree.spot(), "%s must be a duration such as 30s, 15m, 24h or 7d.".formatted(qualified(name)));
        } else if (length.get().compareTo(SHORTEST) < 0 || length.get().compareTo(LONGEST) > 0) {
            problems.add(tree.spot(), "%s must be between 1s and 365d.".formatted(qualified(name)));
            return null;
        }
        return length.orElse(null);
    }

    /** A whole number between two bounds. */
    public @Nullable Integer number(String name, int least, int most) {
        Tree tree = map.get(name);
        if (tree == null) {
            return null;
        }
        boolean fits = tree instanceof Tree.Scalar(Spot _, var value)
                && value.isInt()
                && value.intValue() >= least
                && value.intValue() <= most;
        if (!fits) {
            problems.add(
                    tree.spot(),
                    "%s must be a whole number between %d and %d.".formatted(qualified(name), least, most));
            return null;
        }
        return ((Tree.Scalar) tree).value().intValue();
    }

    /** One of an enum's constants, written in lower case. */
    public <E extends Enum<E>> Optional<E> choice(String name, Class<E> type) {
        Tree tree = map.get(name);
        String text = text(name);
        if (tree == null || text == null) {
            return Optional.empty();
        }
        List<String> words = Arrays.stream(type.getEnumConstants())
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toList();
        int index = words.indexOf(text);
        if (index < 0) {
            String meant = Texts.didYouMean(text, words);
            problems.add(
                    tree.spot(), "%s must be one of %s.%s".formatted(qualified(name), String.join(", ", words), meant));
            return Optional.empty();
        }
        return Optional.of(type.getEnumConstants()[index]);
    }

    /** The items of a list; empty if it is absent or not a list. */
    public List<Tree> items(String name) {
        Tree tree = map.get(name);
        if (tree instanceof Tree.Items(Spot _, List<Tree> items)) {
            return items;
        }
        if (tree != null) {
            problems.add(tree.spot(), "%s must be a list, not %s.".formatted(qualified(name), tree.kind()));
        }
        return List.of();
    }
}
