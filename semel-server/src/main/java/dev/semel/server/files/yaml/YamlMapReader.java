package dev.semel.server.files.yaml;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads typed fields from one map of a YAML file and reports unknown or invalid fields.
 *
 * <p>A field that the format reserves is reported as not available yet; any other unknown field gets a spelling
 * suggestion.
 *
 * @param where name of this map in messages, e.g. `idempotency`
 */
public record YamlMapReader(YamlNode.MapNode map, String where, YamlFileErrorCollector problems) {
    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(365);

    /** A reader of a field that must be a map; null if it is absent or not a map. */
    public static @Nullable YamlMapReader of(@Nullable YamlNode tree, String where, YamlFileErrorCollector problems) {
        if (tree instanceof YamlNode.MapNode members) {
            return new YamlMapReader(members, where, problems);
        }
        if (tree != null) {
            problems.add(tree.range(), "%s must be a map, not %s.".formatted(where, tree.typeName()));
        }
        return null;
    }

    public static YamlMapReader empty(String where, YamlFileErrorCollector problems) {
        return new YamlMapReader(new YamlNode.MapNode(new YamlSourceRange(0, 0, ""), Map.of()), where, problems);
    }

    public YamlMapReader allowOnly(Set<String> known) {
        return allowOnly(known, Set.of());
    }

    public YamlMapReader allowOnly(Set<String> known, Set<String> notYet) {
        map.members().forEach((name, member) -> {
            if (notYet.contains(name)) {
                problems.add(
                        member.nameRange(),
                        "%s is not available yet in this version.".formatted(qualified(name)),
                        "not available yet",
                        YamlFileErrorCollector.FIX);
            } else if (!known.contains(name)) {
                String meant = MisspelledNameSuggester.didYouMean(name, known);
                String shown = MisspelledNameSuggester.shorten(name);
                problems.add(
                        member.nameRange(),
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

    @Nullable
    public YamlNode get(String name) {
        return map.get(name);
    }

    public YamlSourceRange range() {
        return map.range();
    }

    /** The position of a field's name, or the start of the map if it is absent. */
    public YamlSourceRange nameRange(String name) {
        YamlNode.MapEntry member = map.members().get(name);
        return member == null
                ? map.range().narrow(map.range().start(), map.range().start())
                : member.nameRange();
    }

    /** The position of a field's value, or the start of the map if it is absent. */
    public YamlSourceRange valueRange(String name) {
        YamlNode value = map.get(name);
        return value == null ? nameRange(name) : value.range();
    }

    /** A scalar field as written; empty if it is absent or not a scalar. */
    public String sourceText(String name) {
        return map.get(name) instanceof YamlNode.ScalarNode(YamlSourceRange _, var value) ? value.asString() : "";
    }

    @Nullable
    public String text(String name) {
        YamlNode tree = map.get(name);
        if (tree == null) {
            return null;
        }
        if (tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value) && value.isString()) {
            return value.stringValue();
        }
        problems.add(tree.range(), "%s must be text, not %s.".formatted(qualified(name), tree.typeName()));
        return null;
    }

    public boolean flag(String name, boolean otherwise) {
        YamlNode tree = map.get(name);
        if (tree == null) {
            return otherwise;
        }
        if (tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value) && value.isBoolean()) {
            return value.booleanValue();
        }
        problems.add(tree.range(), "%s must be true or false, not %s.".formatted(qualified(name), tree.typeName()));
        return otherwise;
    }

    /** A duration from 1 s to 365 d, written as `30s`, `15m`, `24h` or `7d`. */
    public @Nullable Duration duration(String name) {
        YamlNode tree = map.get(name);
        String text = text(name);
        if (tree == null || text == null) {
            return null;
        }
        Optional<Duration> length = DurationFormat.parse(text);
        if (length.isEmpty()) {
            problems.add(tree.range(), "%s must be a duration such as 30s, 15m, 24h or 7d.".formatted(qualified(name)));
        } else if (length.get().compareTo(SHORTEST) < 0 || length.get().compareTo(LONGEST) > 0) {
            problems.add(tree.range(), "%s must be between 1s and 365d.".formatted(qualified(name)));
            return null;
        }
        return length.orElse(null);
    }

    /** A whole number between two bounds. */
    public @Nullable Integer number(String name, int least, int most) {
        YamlNode tree = map.get(name);
        if (tree == null) {
            return null;
        }
        boolean fits = tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value)
                && value.isInt()
                && value.intValue() >= least
                && value.intValue() <= most;
        if (!fits) {
            problems.add(
                    tree.range(),
                    "%s must be a whole number between %d and %d.".formatted(qualified(name), least, most));
            return null;
        }
        return ((YamlNode.ScalarNode) tree).value().intValue();
    }

    /** One of an enum's constants, written in lower case. */
    public <E extends Enum<E>> Optional<E> choice(String name, Class<E> type) {
        YamlNode tree = map.get(name);
        String text = text(name);
        if (tree == null || text == null) {
            return Optional.empty();
        }
        List<String> words = Arrays.stream(type.getEnumConstants())
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .toList();
        int index = words.indexOf(text);
        if (index < 0) {
            String meant = MisspelledNameSuggester.didYouMean(text, words);
            problems.add(
                    tree.range(),
                    "%s must be one of %s.%s".formatted(qualified(name), String.join(", ", words), meant));
            return Optional.empty();
        }
        return Optional.of(type.getEnumConstants()[index]);
    }

    /** The items of a list; empty if it is absent or not a list. */
    public List<YamlNode> items(String name) {
        YamlNode tree = map.get(name);
        if (tree instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> items)) {
            return items;
        }
        if (tree != null) {
            problems.add(tree.range(), "%s must be a list, not %s.".formatted(qualified(name), tree.typeName()));
        }
        return List.of();
    }
}
