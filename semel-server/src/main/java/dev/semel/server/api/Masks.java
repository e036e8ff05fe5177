package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.key.FieldPath;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * What names a person in a run, and how it is shown to everybody who did not ask for it with a reason. A field that the
 * workflow marks as `pii` is masked in the input; and since workflows hand such values on, so are texts equal to it, or
 * with it in them, in outputs, results, errors, questions and keys of effects.
 */
final class Masks {
    static final String MARK = "•••";
    private static final int MOST_VALUES = 200;
    private static final Pattern EVERYTHING = Pattern.compile("(?s).+");
    private static final int SHORTEST = 3;
    private static final int SHORTEST_NUMBER = 5;

    private final Semel semel;

    Masks(Semel semel) {
        this.semel = semel;
    }

    /** The mask of a run; of one whose workflow marks nothing, {@link Mask#NONE}. */
    Mask of(Rows.@Nullable Run run) {
        List<FieldPath> paths = run == null
                ? List.of()
                : semel.version(run.workflowId(), run.version()).body().pii();
        if (run == null || paths.isEmpty()) {
            return Mask.NONE;
        }
        String input = run.input();
        if (input.isEmpty()) {
            // A list leaves large inputs out, and what is in them may be in its other columns.
            Rows.Run whole = semel.view(reads -> reads.run(run.ws(), run.id()));
            input = whole == null ? "" : whole.input();
        }
        return mask(paths, input.isEmpty() ? JsonNodeFactory.instance.nullNode() : Json.parse(input));
    }

    static Mask mask(List<FieldPath> paths, JsonNode input) {
        Set<String> found = new LinkedHashSet<>();
        paths.forEach(path -> gather(path.of(input), found));
        // Too many to look for one by one: then nothing that was made of this input is shown.
        return new Mask(paths, found.size() > MOST_VALUES ? EVERYTHING : values(found));
    }

    private static @Nullable Pattern values(Set<String> found) {
        // What stands alone only: "Ada" is not masked in "Adaptation". The longest first, since one may begin another.
        String any = found.stream()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .map(Pattern::quote)
                .collect(Collectors.joining("|"));
        return any.isEmpty()
                ? null
                : Pattern.compile(
                        "(?<![\\p{L}\\p{N}])(?:" + any + ")(?![\\p{L}\\p{N}])",
                        Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
    }

    private static void gather(JsonNode node, Set<String> found) {
        if (node.isContainer()) {
            node.forEach(inner -> gather(inner, found));
            return;
        }
        String text = node.isString() || node.isNumber() ? node.asString().strip() : "";
        boolean digits = text.chars().allMatch(c -> c >= '0' && c <= '9');
        if (text.length() >= (digits ? SHORTEST_NUMBER : SHORTEST)) {
            found.add(text);
        }
    }

    /**
     * How one run is shown.
     *
     * @param values what the marked fields hold, wherever it stands; null where they hold nothing that could be told apart
     */
    record Mask(List<FieldPath> paths, @Nullable Pattern values) {
        static final Mask NONE = new Mask(List.of(), null);
        private static final JsonNode MARKED = StringNode.valueOf(MARK);

        List<String> names() {
            return paths.stream().map(FieldPath::toString).toList();
        }

        JsonNode input(JsonNode input) {
            return paths.isEmpty() ? input : anywhere(FieldPath.masked(input, paths, MARKED));
        }

        /** Masks what stands in these members, as far as they are there. */
        ObjectNode within(ObjectNode out, String... members) {
            for (String member : members) {
                JsonNode value = values == null ? null : out.get(member);
                if (value != null) {
                    out.set(member, anywhere(value));
                }
            }
            return out;
        }

        String text(String text) {
            return values == null ? text : values.matcher(text).replaceAll(MARK);
        }

        private JsonNode anywhere(JsonNode node) {
            if (values == null) {
                return node;
            }
            if (node instanceof ObjectNode object) {
                ObjectNode out = JsonNodeFactory.instance.objectNode();
                object.properties().forEach(member -> out.set(member.getKey(), anywhere(member.getValue())));
                return out;
            }
            if (node instanceof ArrayNode array) {
                List<JsonNode> all = new ArrayList<>();
                array.forEach(element -> all.add(anywhere(element)));
                return JsonNodeFactory.instance.arrayNode().addAll(all);
            }
            if (!node.isString() && !node.isNumber()) {
                return node;
            }
            String text = node.asString();
            String masked = text(text);
            return masked.equals(text) ? node : StringNode.valueOf(masked);
        }
    }
}
