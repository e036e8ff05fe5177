package dev.semel.server.definition;

import dev.semel.server.language.Problems;
import dev.semel.server.language.Source;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Tree;
import dev.semel.server.language.YamlReader;
import dev.semel.server.steps.StepReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The steps of a text as a list, those inside of branches and loops behind theirs. It needs only readable YAML, so that a
 * file with mistakes in it can be looked at, and mended, step by step.
 */
public record Outline(List<Step> steps) {
    private static final int DEEPEST = 8;

    public Outline {
        steps = List.copyOf(steps);
    }

    /**
     * One step.
     *
     * @param id empty where it has none that is text
     * @param kind empty where it is not one of ours
     * @param place how deep it stands and under what
     * @param list the path of the list that it is in
     * @param index its place there
     * @param fields all that stands in it
     */
    public record Step(String id, String kind, Place place, List<String> list, int index, JsonNode fields) {
        public Step {
            list = List.copyOf(list);
        }

        /** The path of this step. */
        public List<String> path() {
            return inside(list, String.valueOf(index));
        }
    }

    /**
     * @param depth 0 for the steps of the file itself
     * @param branch the case, the branch or the loop that it is in; empty for the steps of the file itself
     * @param line where it begins
     * @param last whether it is the last one of its list
     */
    public record Place(int depth, String branch, int line, boolean last) {}

    /** Empty where the text cannot be read. */
    public static Outline of(String text) {
        String bare = text.startsWith("\uFEFF") ? text.substring(1) : text;
        Source source = new Source(bare);
        Tree tree = YamlReader.read(bare, source, new Problems(source));
        List<Step> steps = new ArrayList<>();
        if (tree instanceof Tree.Members file) {
            new Walk(source, steps).list(file.get("steps"), List.of("steps"), 0, "");
        }
        return new Outline(steps);
    }

    public Optional<Step> step(String id) {
        return steps.stream().filter(step -> step.id().equals(id)).findFirst();
    }

    private static List<String> inside(List<String> path, String... more) {
        List<String> longer = new ArrayList<>(path);
        longer.addAll(List.of(more));
        return longer;
    }

    private record Walk(Source source, List<Step> found) {
        void list(@Nullable Tree tree, List<String> path, int depth, String branch) {
            if (!(tree instanceof Tree.Items(Spot _, List<Tree> items)) || depth > DEEPEST) {
                return;
            }
            for (int i = 0; i < items.size(); i++) {
                if (items.get(i) instanceof Tree.Members step) {
                    Place place =
                            new Place(depth, branch, source.line(step.spot().start()), i == items.size() - 1);
                    found.add(new Step(text(step, "id"), kind(step), place, path, i, step.toJson()));
                    inner(step, inside(path, String.valueOf(i)), depth + 1);
                }
            }
        }

        private void inner(Tree.Members step, List<String> path, int depth) {
            if (step.get("choose") instanceof Tree.Items(Spot _, List<Tree> cases)) {
                for (int i = 0; i < cases.size(); i++) {
                    if (cases.get(i) instanceof Tree.Members one) {
                        String when = one.get("else") != null ? "else" : "when " + text(one, "when");
                        list(one.get("steps"), inside(path, "choose", String.valueOf(i), "steps"), depth, when);
                    }
                }
            }
            if (step.get("parallel") instanceof Tree.Members branches) {
                branches.members()
                        .forEach((name, branch) ->
                                list(branch.value(), inside(path, "parallel", name), depth, "branch " + name));
            }
            list(step.get("steps"), inside(path, "steps"), depth, "for each");
        }

        private static String text(Tree.Members map, String name) {
            return map.get(name) instanceof Tree.Scalar(Spot _, JsonNode value) && value.isString()
                    ? value.stringValue()
                    : "";
        }

        /** The one word of a kind that is no field of another kind which stands there as well. */
        private static String kind(Tree.Members step) {
            Map<String, Set<String>> kinds = StepReader.kinds();
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
