package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.key.FieldPath;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
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
 * with it in them, in outputs, results, errors, questions and keys of effects, and in names of members.
 */
final class Masks {
    static final String MARK = "•••";
    private static final int MOST_VALUES = 200;
    private static final Pattern EVERYTHING = Pattern.compile("(?s).+");
    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
    private static final int SHORTEST = 3;
    private static final int SHORTEST_NUMBER = 5;

    private final Semel semel;

    Masks(Semel semel) {
        this.semel = semel;
    }

    /** The mask of a run; of one whose workflow marks nothing, {@link Mask#NONE}. */
    Mask of(Rows.@Nullable Run run) {
        return of(run, List.of());
    }

    /** @param more what is masked besides, such as by a text that is not published yet */
    Mask of(Rows.@Nullable Run run, List<FieldPath> more) {
        if (run == null) {
            return Mask.NONE;
        }
        List<FieldPath> paths = marked(run);
        paths.addAll(more);
        if (paths.isEmpty()) {
            return Mask.NONE;
        }
        String input = run.input();
        if (input.isEmpty()) {
            // A list leaves large inputs out, and what is in them may be in its other columns.
            Rows.Run whole = semel.view(reads -> reads.run(run.ws(), run.id()));
            input = whole == null ? "" : whole.input();
        }
        return mask(paths, List.of(input.isEmpty() ? JsonNodeFactory.instance.nullNode() : Json.parse(input)));
    }

    /** By the version it runs with and by those that new runs get: whoever marks a field means old runs, too. */
    private List<FieldPath> marked(Rows.Run run) {
        List<FieldPath> paths = new ArrayList<>(
                semel.version(run.workflowId(), run.version()).body().pii());
        // Remembered until somebody publishes, so that a list costs no read for each of its rows.
        Current current = semel.workflow(run.ws(), run.workflowId());
        if (current == null) {
            return paths;
        }
        for (Published published : current.versions()) {
            if (published.version() != run.version()) {
                paths.addAll(published.body().pii());
            }
        }
        return paths;
    }

    /** Of what the marked fields hold in any of these. */
    static Mask mask(List<FieldPath> paths, List<JsonNode> inputs) {
        Set<String> found = new LinkedHashSet<>();
        inputs.forEach(input -> paths.forEach(path -> gather(path.of(input), found)));
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
            // {"ada@example.com": true}: a name that no author would give a field is a value.
            node.propertyNames().stream()
                    .filter(name -> !FIELD_NAME.matcher(name).matches())
                    .forEach(name -> add(name.strip(), found));
            return;
        }
        add(node.isString() || node.isNumber() ? node.asString().strip() : "", found);
    }

    private static void add(String text, Set<String> found) {
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

        /** Members whose names are ours; those of all others came with the data, and may say whom it is about. */
        private static final Set<String> OURS = Set.of("error", "waiting_for", "attempts");

        List<String> names() {
            return paths.stream().map(FieldPath::toString).distinct().toList();
        }

        JsonNode input(JsonNode input) {
            return paths.isEmpty() ? input : anywhere(FieldPath.masked(input, paths, MARKED), true);
        }

        /** What a step gave, or any other value that came of the input. */
        JsonNode value(JsonNode value) {
            return anywhere(value, true);
        }

        /** Masks what stands in these members, as far as they are there. */
        ObjectNode within(ObjectNode out, String... members) {
            for (String member : members) {
                JsonNode value = values == null ? null : out.get(member);
                if (value != null) {
                    out.set(member, anywhere(value, !OURS.contains(member)));
                }
            }
            return out;
        }

        String text(String text) {
            return values == null ? text : values.matcher(text).replaceAll(MARK);
        }

        private JsonNode anywhere(JsonNode node, boolean names) {
            if (values == null) {
                return node;
            }
            if (node instanceof ObjectNode object) {
                ObjectNode out = JsonNodeFactory.instance.objectNode();
                object.properties().forEach(member -> {
                    String name = names ? free(text(member.getKey()), out) : member.getKey();
                    out.set(name, anywhere(member.getValue(), names));
                });
                return out;
            }
            if (node instanceof ArrayNode array) {
                List<JsonNode> all = new ArrayList<>();
                array.forEach(element -> all.add(anywhere(element, names)));
                return JsonNodeFactory.instance.arrayNode().addAll(all);
            }
            if (!node.isString() && !node.isNumber()) {
                return node;
            }
            String text = node.asString();
            String masked = text(text);
            return masked.equals(text) ? node : StringNode.valueOf(masked);
        }

        /** Two names that are equal under the mask stay two members. */
        private static String free(String name, ObjectNode taken) {
            String free = name;
            for (int n = 2; taken.has(free); n++) {
                free = name + " " + n;
            }
            return free;
        }
    }
}
