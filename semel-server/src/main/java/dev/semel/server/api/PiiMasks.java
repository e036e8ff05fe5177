package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.json.StrictJson;
import dev.semel.admission.FieldPath;
import dev.semel.run.RunId;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
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
 * Creates the masks that hide personal data (PII) of runs in API responses. A mask hides the input fields that the
 * workflow marks as `pii`, and every text that contains their values: in outputs, results, errors, questions, effect
 * keys and member names. Users see unmasked values only through a reveal with a reason.
 */
final class PiiMasks {
    static final String MASK_TEXT = "•••";
    private static final int MOST_VALUES = 200;
    private static final Pattern EVERYTHING = Pattern.compile("(?s).+");
    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
    private static final int SHORTEST = 3;
    private static final int SHORTEST_NUMBER = 5;
    private static final int PAGE_SIZE = 16;

    /** The stored input of a run whose payload was erased after its retention. */
    private static final String BLANK = "{}";

    private final SemelRuntime semel;

    PiiMasks(SemelRuntime semel) {
        this.semel = semel;
    }

    /** A mask that hides nothing: for an audited reveal, and for the sender of a trigger who waits for its run. */
    static PiiMask noMask() {
        return PiiMask.NONE;
    }

    /** The mask of a run. It hides nothing if the workflow marks no field. */
    PiiMask of(StoredRows.RunRow run) {
        return of(run, List.of());
    }

    /** The mask for data of a run. If the run is deleted, the PII values are unknown and everything is masked. */
    PiiMask of(StoredRows.@Nullable RunRow run, int workspace, String workflowId) {
        if (run != null) {
            return of(run);
        }
        return hasPiiFields(workspace, workflowId) ? PiiMask.ALL : PiiMask.NONE;
    }

    /** @param more further fields to mask, such as those of an unpublished draft */
    PiiMask of(StoredRows.RunRow run, List<FieldPath> more) {
        List<FieldPath> paths = piiFields(run);
        paths.addAll(more);
        if (paths.isEmpty()) {
            return PiiMask.NONE;
        }
        return maskOf(paths, run.input().isEmpty() ? withInputs(List.of(run)).getOrDefault(run.id(), run) : run);
    }

    /**
     * The masks of a page of runs. Lists omit large inputs, so those are loaded: other columns may contain their
     * values.
     */
    Map<RunId, PiiMask> of(List<StoredRows.RunRow> page) {
        Map<RunId, PiiMask> all = new HashMap<>();
        Map<RunId, List<FieldPath>> large = new LinkedHashMap<>();
        for (StoredRows.RunRow run : page) {
            List<FieldPath> paths = piiFields(run);
            if (!paths.isEmpty() && run.input().isEmpty()) {
                large.put(run.id(), paths);
            }
            all.put(run.id(), paths.isEmpty() ? PiiMask.NONE : maskOf(paths, run));
        }
        List<StoredRows.RunRow> missing =
                page.stream().filter(run -> large.containsKey(run.id())).toList();
        // A few at a time, since each input may be a megabyte. Only the mask stays in memory.
        for (int from = 0; from < missing.size(); from += PAGE_SIZE) {
            withInputs(missing.subList(from, Math.min(from + PAGE_SIZE, missing.size())))
                    .forEach((id, run) -> all.put(id, maskOf(large.getOrDefault(id, List.of()), run)));
        }
        return all;
    }

    private Map<RunId, StoredRows.RunRow> withInputs(List<StoredRows.RunRow> runs) {
        List<StoredRows.RunRow> found = Objects.requireNonNull(
                semel.view(reads -> reads.runsWithoutJournal(runs.stream().map(StoredRows.RunRow::id).toList())));
        return found.stream().collect(Collectors.toMap(StoredRows.RunRow::id, run -> run));
    }

    /**
     * Builds the mask from the run's input. If the input was erased, its effect keys and errors remain and their PII is
     * unknown, so the mask hides everything.
     */
    private static PiiMask maskOf(List<FieldPath> paths, StoredRows.RunRow run) {
        boolean blank =
                run.input().isEmpty() || run.end() != null && run.input().equals(BLANK);
        return blank ? new PiiMask(paths, EVERYTHING) : fromInputs(paths, List.of(StrictJson.parse(run.input())));
    }

    /** Whether any version of the workflow marks a field as PII. */
    boolean hasPiiFields(int workspace, String workflowId) {
        StoredRows.WorkflowRow row = semel.view(reads -> reads.workflow(workspace, workflowId));
        for (int version = row == null ? 0 : row.rollout().latest(); version > 0; version--) {
            if (!semel.version(workflowId, version).body().piiPaths().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** PII fields of the run's version and of the current versions: a new mark also covers old runs. */
    private List<FieldPath> piiFields(StoredRows.RunRow run) {
        List<FieldPath> paths = new ArrayList<>(
                semel.version(run.workflowId(), run.version()).body().piiPaths());
        // Cached until the next publish, so that a list needs no read per row.
        CurrentWorkflow current = semel.workflow(run.ws(), run.workflowId());
        if (current == null) {
            return paths;
        }
        for (WorkflowVersion published : current.versions()) {
            if (published.version() != run.version()) {
                paths.addAll(published.body().piiPaths());
            }
        }
        return paths;
    }

    /** The mask for the values of these fields in any of these inputs. */
    static PiiMask fromInputs(List<FieldPath> paths, List<JsonNode> inputs) {
        Set<String> found = new LinkedHashSet<>();
        inputs.forEach(input -> paths.forEach(path -> collectValues(path.valueIn(input), found)));
        // Too many values to search for: then the mask hides everything derived from the input.
        return new PiiMask(paths, found.size() > MOST_VALUES ? EVERYTHING : values(found));
    }

    private static @Nullable Pattern values(Set<String> found) {
        // Whole words only: "Ada" is not masked in "Adaptation". The longest first, since one may be a prefix of
        // another.
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

    private static void collectValues(JsonNode node, Set<String> found) {
        if (node.isContainer()) {
            node.forEach(inner -> collectValues(inner, found));
            // {"ada@example.com": true}: a member name that is no usual field name is a value.
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
     * Hides the personal data of one run.
     *
     * @param values matches the values of the PII fields in any text; null if no value is long enough to search for
     */
    record PiiMask(List<FieldPath> paths, @Nullable Pattern values) {
        private static final PiiMask NONE = new PiiMask(List.of(), null);
        private static final PiiMask ALL = new PiiMask(List.of(), EVERYTHING);
        private static final JsonNode MARKED = StringNode.valueOf(MASK_TEXT);

        List<String> fieldNames() {
            return paths.stream().map(FieldPath::toString).distinct().toList();
        }

        JsonNode maskInput(JsonNode input) {
            return paths.isEmpty() ? input : maskNode(FieldPath.mask(input, paths, MARKED), true);
        }

        /** Masks a step result or another value derived from the input. */
        JsonNode maskValue(JsonNode value) {
            return maskNode(value, true);
        }

        /** Masks values but keeps member names, which Semel chose. */
        JsonNode maskValuesOnly(JsonNode value) {
            return maskNode(value, false);
        }

        String maskText(String text) {
            return values == null ? text : values.matcher(text).replaceAll(MASK_TEXT);
        }

        private JsonNode maskNode(JsonNode node, boolean names) {
            if (values == null) {
                return node;
            }
            if (node instanceof ObjectNode object) {
                ObjectNode out = JsonNodeFactory.instance.objectNode();
                object.properties().forEach(member -> {
                    String name = names ? uniqueName(maskText(member.getKey()), out) : member.getKey();
                    out.set(name, maskNode(member.getValue(), names));
                });
                return out;
            }
            if (node instanceof ArrayNode array) {
                List<JsonNode> all = new ArrayList<>();
                array.forEach(element -> all.add(maskNode(element, names)));
                return JsonNodeFactory.instance.arrayNode().addAll(all);
            }
            if (!node.isString() && !node.isNumber()) {
                return node;
            }
            String text = node.asString();
            String masked = maskText(text);
            return masked.equals(text) ? node : StringNode.valueOf(masked);
        }

        /** Numbers member names that are equal after masking, so that none is lost. */
        private static String uniqueName(String name, ObjectNode taken) {
            String free = name;
            for (int n = 2; taken.has(free); n++) {
                free = name + " " + n;
            }
            return free;
        }
    }
}
