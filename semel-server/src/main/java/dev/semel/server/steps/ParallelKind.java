package dev.semel.server.steps;

import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.workflow.Durable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Step kind `parallel: {crm: [steps], mail: [steps]}`: runs branches concurrently and continues when all are done. */
final class ParallelKind implements Kind {
    private static final int MOST_BRANCHES = 32;

    @Override
    public String word() {
        return "parallel";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable Act read(Draft draft) {
        if (!(draft.fields().get("parallel") instanceof Tree.Members branches)
                || branches.members().isEmpty()
                || branches.members().size() > MOST_BRANCHES) {
            draft.wrong(
                    draft.fields().spotOfValue("parallel"),
                    "parallel must be a map of 1 to %d branches: {name: [steps], …}.".formatted(MOST_BRANCHES));
            return null;
        }
        Map<String, List<FileStep>> read = new LinkedHashMap<>();
        branches.members().forEach((name, branch) -> {
            if (!StepReader.ID.matcher(name).matches()) {
                draft.wrong(
                        branch.name(),
                        "a branch name must be a lower-case letter and up to 63 lower-case letters, digits or _.");
            }
            read.put(name, draft.inner(branch.value(), draft.site()));
        });
        return new AtOnce(read);
    }

    /** Runs all branches concurrently. */
    private record AtOnce(Map<String, List<FileStep>> named) implements Act {
        @Override
        public JsonNode run(Play context) {
            List<String> names = new ArrayList<>(named.keySet());
            List<Map<String, JsonNode>> results = context.durable()
                    .forEach(
                            context.id(),
                            new Durable.Items<>(names, new ArrayList<>(named.values()), names.size()),
                            (scope, steps) -> branch(context, scope, steps));
            ObjectNode done = JsonNodeFactory.instance.objectNode();
            for (int i = 0; i < names.size(); i++) {
                context.results().putAll(results.get(i));
                done.put(names.get(i), true);
            }
            return done;
        }

        private static Map<String, JsonNode> branch(Play context, Durable scope, List<FileStep> steps) throws Exception {
            Play inside = context.branch(scope, Map.of());
            Steps.run(steps, inside);
            Map<String, JsonNode> own = new LinkedHashMap<>(inside.results());
            own.keySet().removeAll(context.results().keySet());
            return own;
        }

        @Override
        public Stream<Template> templates() {
            return Stream.empty();
        }

        @Override
        public List<FileStep> inner() {
            return named.values().stream().flatMap(List::stream).toList();
        }

        @Override
        public Map<String, List<FileStep>> branches() {
            Map<String, List<FileStep>> all = new LinkedHashMap<>();
            named.forEach((name, steps) -> all.put("[" + name + "]/", steps));
            return all;
        }
    }
}
