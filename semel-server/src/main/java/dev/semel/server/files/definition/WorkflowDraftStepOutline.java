package dev.semel.server.files.definition;

import dev.semel.server.files.steps.flow.YamlStepReader;
import dev.semel.server.files.yaml.FormatPreservingYamlEditor;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlReader;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.server.files.yaml.YamlSourceText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Nested steps follow their parent. Needs only valid YAML, so that users can fix a file with errors step by step. */
public record WorkflowDraftStepOutline(List<OutlineStep> steps) {
    private static final int DEEPEST = 8;

    public WorkflowDraftStepOutline {
        steps = List.copyOf(steps);
    }

    /**
     * One step of the outline.
     *
     * @param id empty if it is missing or not text
     * @param kind empty if it is not a known kind
     * @param position nesting and position
     * @param list path of the list that contains it
     * @param index index in that list
     * @param tree all fields of the step
     */
    public record OutlineStep(
            String id, String kind, StepPosition position, List<String> list, int index, YamlNode.MapNode tree) {
        public OutlineStep {
            list = List.copyOf(list);
        }

        /** All fields of the step. */
        public JsonNode fields() {
            return tree.toJson();
        }

        public List<String> path() {
            return inside(list, String.valueOf(index));
        }
    }

    /**
     * Nesting and position of a step in the file.
     *
     * @param depth 0 for top-level steps
     * @param branch the case, branch or loop that contains it; empty for top-level steps
     * @param line line where it begins
     * @param last whether it is the last one of its list
     */
    public record StepPosition(int depth, String branch, int line, boolean last) {}

    /** Empty if the text is not valid YAML. */
    public static WorkflowDraftStepOutline of(String text) {
        String bare = text.startsWith("\uFEFF") ? text.substring(1) : text;
        YamlSourceText source = new YamlSourceText(bare);
        YamlNode tree = YamlReader.read(bare, source, new YamlFileErrorCollector(source));
        return of(source, tree);
    }

    static WorkflowDraftStepOutline of(FormatPreservingYamlEditor yaml) {
        return of(yaml.source(), yaml.root());
    }

    private static WorkflowDraftStepOutline of(YamlSourceText source, @Nullable YamlNode tree) {
        List<OutlineStep> steps = new ArrayList<>();
        if (tree instanceof YamlNode.MapNode file) {
            new OutlineWalker(source, steps).list(file.get("steps"), List.of("steps"), 0, "");
        }
        return new WorkflowDraftStepOutline(steps);
    }

    public Optional<OutlineStep> step(String id) {
        return steps.stream().filter(step -> step.id().equals(id)).findFirst();
    }

    private static List<String> inside(List<String> path, String... more) {
        List<String> longer = new ArrayList<>(path);
        longer.addAll(List.of(more));
        return longer;
    }

    private record OutlineWalker(YamlSourceText source, List<OutlineStep> found) {
        void list(@Nullable YamlNode tree, List<String> path, int depth, String branch) {
            if (!(tree instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> items)) || depth > DEEPEST) {
                return;
            }
            for (int i = 0; i < items.size(); i++) {
                if (items.get(i) instanceof YamlNode.MapNode step) {
                    StepPosition stepPosition = new StepPosition(
                            depth, branch, source.line(step.range().start()), i == items.size() - 1);
                    found.add(new OutlineStep(text(step, "id"), kind(step), stepPosition, path, i, step));
                    inner(step, inside(path, String.valueOf(i)), depth + 1);
                }
            }
        }

        private void inner(YamlNode.MapNode step, List<String> path, int depth) {
            if (step.get("choose") instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> cases)) {
                for (int i = 0; i < cases.size(); i++) {
                    if (cases.get(i) instanceof YamlNode.MapNode one) {
                        String when = one.get("else") != null ? "else" : "when " + text(one, "when");
                        list(one.get("steps"), inside(path, "choose", String.valueOf(i), "steps"), depth, when);
                    }
                }
            }
            if (step.get("parallel") instanceof YamlNode.MapNode branches) {
                branches.members()
                        .forEach((name, branch) ->
                                list(branch.value(), inside(path, "parallel", name), depth, "branch " + name));
            }
            list(step.get("steps"), inside(path, "steps"), depth, "for each");
        }

        private static String text(YamlNode.MapNode map, String name) {
            return map.get(name) instanceof YamlNode.ScalarNode(YamlSourceRange _, JsonNode value) && value.isString()
                    ? value.stringValue()
                    : "";
        }

        /** The name of the step's kind, unless it is a field of another kind that is present. */
        private static String kind(YamlNode.MapNode step) {
            Map<String, Set<String>> kinds = YamlStepReader.kinds();
            List<String> named =
                    step.members().keySet().stream().filter(kinds::containsKey).toList();
            List<String> own = named.stream()
                    .filter(word -> named.stream()
                            .noneMatch(
                                    other -> kinds.getOrDefault(other, Set.of()).contains(word)))
                    .toList();
            return own.size() == 1 ? own.getFirst() : "";
        }
    }
}
