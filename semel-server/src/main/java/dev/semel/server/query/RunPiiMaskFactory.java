package dev.semel.server.query;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.idempotency.JsonFieldPath;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Creates the masks that hide personal data (PII) of runs in API responses. A mask hides the input fields that the
 * workflow marks as `pii`, and every text that contains their values: in outputs, results, errors, questions, effect
 * keys and member names. Users see unmasked values only through a reveal with a reason.
 */
public record RunPiiMaskFactory(SemelRuntime semel) {
    public static final String MASK_TEXT = "•••";
    private static final int MOST_VALUES = 200;
    static final Pattern EVERYTHING = Pattern.compile("(?s).+");
    private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
    private static final int SHORTEST = 3;
    private static final int SHORTEST_NUMBER = 5;
    private static final int PAGE_SIZE = 16;

    /** The stored input of a run whose payload was erased after its retention. */
    private static final String BLANK = "{}";

    /** A mask that hides nothing: for an audited reveal, and for the sender of a trigger who waits for its run. */
    public static PiiMask noMask() {
        return PiiMask.NONE;
    }

    /** The mask of a run. It hides nothing if the workflow marks no field. */
    public PiiMask of(DatabaseRows.RunRow run) {
        return of(run, List.of());
    }

    /** The mask for data of a run. If the run is deleted, the PII values are unknown and everything is masked. */
    public PiiMask of(DatabaseRows.@Nullable RunRow run, int workspace, String workflowId) {
        if (run != null) {
            return of(run);
        }
        return hasPiiFields(workspace, workflowId) ? PiiMask.ALL : PiiMask.NONE;
    }

    /** @param more further fields to mask, such as those of an unpublished draft */
    public PiiMask of(DatabaseRows.RunRow run, List<JsonFieldPath> more) {
        List<JsonFieldPath> paths = piiFields(run);
        paths.addAll(more);
        if (paths.isEmpty()) {
            return PiiMask.NONE;
        }
        return maskOf(paths, run.input().isEmpty() ? withInputs(List.of(run)).getOrDefault(run.id(), run) : run);
    }

    /** Lists omit large inputs, so those are loaded: other columns may contain their values. */
    Map<RunId, PiiMask> of(List<DatabaseRows.RunRow> page) {
        Map<RunId, PiiMask> all = new HashMap<>();
        Map<RunId, List<JsonFieldPath>> large = new LinkedHashMap<>();
        for (DatabaseRows.RunRow run : page) {
            List<JsonFieldPath> paths = piiFields(run);
            if (!paths.isEmpty() && run.input().isEmpty()) {
                large.put(run.id(), paths);
            }
            all.put(run.id(), paths.isEmpty() ? PiiMask.NONE : maskOf(paths, run));
        }
        List<DatabaseRows.RunRow> missing =
                page.stream().filter(run -> large.containsKey(run.id())).toList();
        // A few at a time, since each input may be a megabyte. Only the mask stays in memory.
        for (int from = 0; from < missing.size(); from += PAGE_SIZE) {
            withInputs(missing.subList(from, Math.min(from + PAGE_SIZE, missing.size())))
                    .forEach((id, run) -> all.put(id, maskOf(large.getOrDefault(id, List.of()), run)));
        }
        return all;
    }

    private Map<RunId, DatabaseRows.RunRow> withInputs(List<DatabaseRows.RunRow> runs) {
        List<DatabaseRows.RunRow> found = StoreReader.read(
                semel,
                reads -> reads.runsWithoutJournal(
                        runs.stream().map(DatabaseRows.RunRow::id).toList()));
        return found.stream().collect(Collectors.toMap(DatabaseRows.RunRow::id, run -> run));
    }

    /** If the input was erased, effect keys and errors remain and their PII is unknown: the mask hides everything. */
    private static PiiMask maskOf(List<JsonFieldPath> paths, DatabaseRows.RunRow run) {
        boolean blank =
                run.input().isEmpty() || run.end() != null && run.input().equals(BLANK);
        return blank ? new PiiMask(paths, EVERYTHING) : fromInputs(paths, List.of(StrictJsonCodec.parse(run.input())));
    }

    /** Whether any version of the workflow marks a field as PII. */
    boolean hasPiiFields(int workspace, String workflowId) {
        DatabaseRows.WorkflowRow row = semel.view(reads -> reads.workflow(workspace, workflowId));
        for (int version = row == null ? 0 : row.rollout().latest(); version > 0; version--) {
            if (!semel.version(workflowId, version).body().piiPaths().isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** PII fields of the run's version and of the current versions: a new mark also covers old runs. */
    private List<JsonFieldPath> piiFields(DatabaseRows.RunRow run) {
        List<JsonFieldPath> paths = new ArrayList<>(
                semel.version(run.workflowId(), run.version()).body().piiPaths());
        // Cached until the next publish, so that a list needs no read per row.
        WorkflowCatalogEntry current = semel.workflow(run.ws(), run.workflowId());
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
    public static PiiMask fromInputs(List<JsonFieldPath> paths, List<JsonNode> inputs) {
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
}
