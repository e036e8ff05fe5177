package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.key.FieldPath;
import dev.semel.run.RunId;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
    private static final int AT_ONCE = 16;

    /** What stands in the place of an input that was taken out after its time. */
    private static final String BLANK = "{}";

    private final Semel semel;

    Masks(Semel semel) {
        this.semel = semel;
    }

    /** No mask at all: for whoever asked with a reason, which is on record, and for the sender who waits for their run. */
    static Mask lifted() {
        return Mask.NONE;
    }

    /** The mask of a run; of one whose workflow marks nothing, one that hides nothing. */
    Mask of(Rows.Run run) {
        return of(run, List.of());
    }

    /** The mask of what a run made, also where the run is gone: then nobody can say what of it is personal. */
    Mask of(Rows.@Nullable Run run, int workspace, String workflowId) {
        if (run != null) {
            return of(run);
        }
        return marks(workspace, workflowId) ? Mask.ALL : Mask.NONE;
    }

    /** @param more what is masked besides, such as by a text that is not published yet */
    Mask of(Rows.Run run, List<FieldPath> more) {
        List<FieldPath> paths = marked(run);
        paths.addAll(more);
        if (paths.isEmpty()) {
            return Mask.NONE;
        }
        return hiding(paths, run.input().isEmpty() ? whole(List.of(run)).getOrDefault(run.id(), run) : run);
    }

    /** Those of a page. A list leaves large inputs out, and what is in them may be in its other columns. */
    Map<RunId, Mask> of(List<Rows.Run> page) {
        Map<RunId, Mask> all = new HashMap<>();
        Map<RunId, List<FieldPath>> large = new LinkedHashMap<>();
        for (Rows.Run run : page) {
            List<FieldPath> paths = marked(run);
            if (!paths.isEmpty() && run.input().isEmpty()) {
                large.put(run.id(), paths);
            }
            all.put(run.id(), paths.isEmpty() ? Mask.NONE : hiding(paths, run));
        }
        List<Rows.Run> missing =
                page.stream().filter(run -> large.containsKey(run.id())).toList();
        // Some at a time, since each may be a megabyte: what is kept of them is the mask.
        for (int from = 0; from < missing.size(); from += AT_ONCE) {
            whole(missing.subList(from, Math.min(from + AT_ONCE, missing.size())))
                    .forEach((id, run) -> all.put(id, hiding(large.getOrDefault(id, List.of()), run)));
        }
        return all;
    }

    private Map<RunId, Rows.Run> whole(List<Rows.Run> runs) {
        List<Rows.Run> found = Objects.requireNonNull(
                semel.view(reads -> reads.heads(runs.stream().map(Rows.Run::id).toList())));
        return found.stream().collect(Collectors.toMap(Rows.Run::id, run -> run));
    }

    /**
     * By what the run was told. Where that was taken out after its time, or the run is gone, the keys of its effects and
     * its errors stay, and nothing says what of them is personal: then none of it is shown.
     */
    private static Mask hiding(List<FieldPath> paths, Rows.Run run) {
        boolean blank =
                run.input().isEmpty() || run.end() != null && run.input().equals(BLANK);
        return blank ? new Mask(paths, EVERYTHING) : mask(paths, List.of(Json.parse(run.input())));
    }

    /** Whether any version of a workflow marks a field. */
    boolean marks(int workspace, String workflowId) {
        Rows.Workflow row = semel.view(reads -> reads.workflow(workspace, workflowId));
        for (int version = row == null ? 0 : row.rollout().latest(); version > 0; version--) {
            if (!semel.version(workflowId, version).body().pii().isEmpty()) {
                return true;
            }
        }
        return false;
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
        private static final Mask NONE = new Mask(List.of(), null);
        private static final Mask ALL = new Mask(List.of(), EVERYTHING);
        private static final JsonNode MARKED = StringNode.valueOf(MARK);

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

        /** The same, where the names of its members are ours. */
        JsonNode ours(JsonNode value) {
            return anywhere(value, false);
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
