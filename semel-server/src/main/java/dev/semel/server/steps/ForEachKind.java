package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Kinds;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Site;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.workflow.Durable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kind `for_each: ${ list }`, `as`, `item_key`, `parallel`, `steps`: runs the same steps for each item.
 *
 * <p>Item results are recorded by item key, not by position, so that a reordered list finds its records.
 */
final class ForEachKind implements Kind {
    private static final int MOST_AT_ONCE = 64;

    @Override
    public String word() {
        return "for_each";
    }

    @Override
    public Set<String> fields() {
        return Set.of("as", "item_key", "parallel", "steps");
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Template list = draft.needed(draft.fields(), "for_each", CelKind.LIST);
        String as = draft.fields().get("as") == null ? "item" : draft.fields().text("as");
        if (as == null || !isFree(as, draft)) {
            return null;
        }
        Set<String> items = new LinkedHashSet<>(draft.site().items());
        items.add(as);
        Site inside =
                new Site(Site.Kind.STEP, draft.site().earlier(), draft.site().all(), items);
        Template key = key(draft, inside);
        Integer atOnce = draft.fields().number("parallel", 1, MOST_AT_ONCE);
        Tree steps = draft.fields().get("steps");
        if (steps == null) {
            draft.wrong(draft.fields().spotOf("for_each"), "the loop has no steps; add steps: [ … ].");
            return null;
        }
        List<FileStep> inner = draft.inner(steps, inside);
        return list == null || key == null
                ? null
                : new Loop(as, new Items(list, key, named(draft, as)), atOnce == null ? 1 : atOnce, inner);
    }

    private static boolean isFree(String as, Draft draft) {
        boolean taken = Site.isTaken(as) || StepReader.RESERVED.contains(as);
        if (!StepReader.ID.matcher(as).matches() || taken) {
            draft.wrong(
                    draft.fields().spotOfValue("as"),
                    taken
                            ? "'%s' cannot be a loop variable, because the name is reserved; choose another name.".formatted(as)
                            : "as must be a lower-case letter and up to 63 lower-case letters, digits or _.");
            return false;
        }
        if (draft.site().items().contains(as)) {
            draft.wrong(
                    draft.fields().spotOf("for_each"), "'%s' is already the variable of an outer loop; set another name with as.".formatted(as));
            return false;
        }
        return true;
    }

    private static @Nullable Template key(Draft draft, Site inside) {
        Tree tree = draft.fields().get("item_key");
        if (tree == null) {
            draft.problems()
                    .add(
                            draft.fields().spotOf("for_each"),
                            "item_key is missing; Semel records the results of an item by its key, not by its position.",
                            "no item key",
                            "Add an id of the item, e.g. item_key: ${ item.id }.");
            return null;
        }
        return draft.tools()
                .templates()
                .compile(tree, inside.as(Site.Kind.EFFECT_KEY), Set.of(CelKind.STRING, CelKind.INT));
    }

    /** The loop variable and item key as written. */
    private static String named(Draft draft, String as) {
        return as + ": " + draft.written("item_key");
    }

    /**
     * The list and the key of each item.
     *
     * @param named the key as written
     */
    private record Items(Template list, Template key, String named) {}

    /** Runs the nested steps for each item of the list. */
    private record Loop(String as, Items over, int atOnce, List<FileStep> inner) implements Act {
        @Override
        public JsonNode run(Play context) {
            JsonNode found = context.fill(over.list());
            if (!found.isArray()) {
                throw context.failed("Step '" + context.id() + "'", "for_each needs a list, not " + Kinds.of(found));
            }
            List<JsonNode> items = new ArrayList<>();
            List<String> keys = new ArrayList<>();
            Scope scope = context.scope();
            for (JsonNode item : found) {
                items.add(item);
                keys.add(key(context, scope.with(as, item)));
            }
            List<JsonNode> results = context.durable()
                    .forEach(
                            context.id(),
                            new Durable.Items<>(keys, items, atOnce),
                            (branch, item) -> one(context, branch, item));
            ArrayNode list = JsonNodeFactory.instance.arrayNode();
            results.forEach(list::add);
            return list;
        }

        private String key(Play context, Scope scope) {
            JsonNode value = context.fill(over.key(), scope);
            if ((!value.isString() && !value.isNumber()) || value.asString().isBlank()) {
                throw context.failed(
                        "The item_key of step '" + context.id() + "'", "it returned " + Kinds.of(value) + " or an empty text");
            }
            return value.asString();
        }

        /** The results of the item's steps by id, which later steps can read. */
        private JsonNode one(Play context, Durable branch, JsonNode item) throws Exception {
            Play inside = context.branch(branch, Map.of(as, item));
            Steps.run(inner, inside);
            ObjectNode result = JsonNodeFactory.instance.objectNode();
            inner.stream().flatMap(FileStep::all).forEach(step -> {
                JsonNode value = inside.results().get(step.id());
                if (value != null) {
                    result.set(step.id(), value);
                }
            });
            return result;
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(over.list(), over.key());
        }

        @Override
        public Map<String, List<FileStep>> branches() {
            return Map.of("[]/", inner);
        }

        @Override
        public String identity() {
            return over.named();
        }
    }
}
