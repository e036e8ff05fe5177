package dev.semel.workflow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Builds a durable loop over items (forEach): how many items run concurrently, and the code for each.
 * Step ids depend on each item's key, so the order of the items may change.
 */
public final class ForEachBuilder<T> {
    private static final int MOST_AT_ONCE = 1_000;

    private final JavaWorkflowJsonAdapter wire;
    private final String name;
    private final List<T> values;
    private final List<String> keys;
    private int concurrency = 1;

    ForEachBuilder(JavaWorkflowJsonAdapter wire, String name, Collection<T> items, Function<? super T, ?> key) {
        JavaWorkflowJsonAdapter.requireNotBlank("its name", name);
        this.wire = wire;
        this.name = name;
        this.values = new ArrayList<>(items);
        this.keys = keys(name, values, key);
    }

    /** Maximum number of items that run concurrently. Default: 1. */
    public ForEachBuilder<T> concurrency(int value) {
        if (value < 1 || value > MOST_AT_ONCE) {
            throw invalid(name, "concurrency must be between 1 and " + MOST_AT_ONCE + ", not " + value);
        }
        concurrency = value;
        return this;
    }

    /** Runs the code for every item and returns the results in the order of the items. */
    public <R> List<R> run(WorkflowFunction<T, R> each) {
        return wire.operations()
                .forEach(
                        name,
                        new DurableWorkflowOperations.KeyedItems<>(keys, values, concurrency),
                        (scope, item) -> each.run(new Context(scope, wire.codec()), item));
    }

    private static <T> List<String> keys(String name, List<T> values, Function<? super T, ?> key) {
        List<String> keys = new ArrayList<>(values.size());
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < values.size(); i++) {
            String text;
            try {
                text = Key.of(key.apply(values.get(i))).text();
            } catch (IllegalArgumentException e) {
                throw invalid(
                        name,
                        "the key of item " + (i + 1)
                                + " is null, empty or not Unicode text, or its toString() differs in every process");
            }
            Integer earlier = places.put(text, i);
            if (earlier != null) {
                throw invalid(name, "items " + (earlier + 1) + " and " + (i + 1) + " have the same key");
            }
            keys.add(text);
        }
        return List.copyOf(keys);
    }

    private static RuntimeException invalid(String name, @Nullable String why) {
        return JavaWorkflowJsonAdapter.invalidCode("The forEach \"" + name + "\"", why)
                .with("step", name);
    }
}
