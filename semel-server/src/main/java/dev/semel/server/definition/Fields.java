package dev.semel.server.definition;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Takes typed members out of one map of the file. Every member that is not known is reported: by name as "not yet"
 * where the format has it, else as unknown with the name that was probably meant.
 */
final class Fields {
    private final Tree.Members map;
    private final String where;
    private final Problems problems;

    /** @param where what a message calls this map, e.g. `idempotency` */
    Fields(Tree.Members map, String where, Problems problems) {
        this.map = map;
        this.where = where;
        this.problems = problems;
    }

    /** The fields of a member that must be a map, or null where it is absent or something else. */
    static @Nullable Fields of(@Nullable Tree tree, String where, Problems problems) {
        if (tree instanceof Tree.Members members) {
            return new Fields(members, where, problems);
        }
        if (tree != null) {
            problems.add(tree.spot(), "%s must be a map, not %s.".formatted(where, tree.kind()));
        }
        return null;
    }

    Fields allow(Set<String> known, Set<String> notYet) {
        map.members().forEach((name, member) -> {
            if (notYet.contains(name)) {
                problems.add(
                        member.name(),
                        "%s is not available yet in this version.".formatted(qualified(name)),
                        "not yet",
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
        // "a step" and "a workflow" are words, not the beginning of a path.
        return where.contains(" ") ? "'" + name + "'" : where + "." + name;
    }

    Tree.Members map() {
        return map;
    }

    @Nullable
    Tree get(String name) {
        return map.get(name);
    }

    Spot spot() {
        return map.spot();
    }

    /** Where the name of a member stands, or the beginning of the map. */
    Spot spotOf(String name) {
        Tree.Member member = map.members().get(name);
        return member == null
                ? map.spot().narrowed(map.spot().start(), map.spot().start())
                : member.name();
    }

    /** Where the value of a member stands, or the beginning of the map. */
    Spot spotOfValue(String name) {
        Tree value = map.get(name);
        return value == null ? spotOf(name) : value.spot();
    }

    @Nullable
    String text(String name) {
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

    boolean flag(String name, boolean otherwise) {
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

    /** One of an enum's constants, written in lower case. */
    <E extends Enum<E>> Optional<E> choice(String name, Class<E> type) {
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

    /** The items of a list; empty where it is absent or not a list. */
    List<Tree> items(String name) {
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
