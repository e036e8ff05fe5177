package dev.semel.server.definition;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Workflows that call each other in a circle would start runs without an end, so such a file does not publish. */
public final class Loops {
    private Loops() {}

    /**
     * A way back to where it begins, first and last the same; empty where there is none.
     *
     * @param first the called workflow with which it begins
     * @param calls which workflows one calls; none for one that is not known
     */
    static List<String> path(String workflow, String first, Function<String, ? extends Collection<String>> calls) {
        Deque<List<String>> ways = new ArrayDeque<>(List.of(List.of(workflow, first)));
        Set<String> seen = new HashSet<>(Set.of(first));
        while (!ways.isEmpty()) {
            List<String> way = ways.poll();
            String last = way.getLast();
            if (last.equals(workflow)) {
                return way;
            }
            for (String next : calls.apply(last)) {
                if (seen.add(next)) {
                    List<String> longer = new ArrayList<>(way);
                    longer.add(next);
                    ways.add(longer);
                }
            }
        }
        return List.of();
    }

    /**
     * @param calls which workflows the others call
     * @throws dev.semel.error.SemelException `invalid-definition`, with the step that closes the circle
     */
    public static void refuse(Definition definition, Function<String, ? extends Collection<String>> calls) {
        definition.steps().forEach(step -> {
            String called = step.act().calls();
            List<String> way = called == null ? List.of() : path(definition.name(), called, calls);
            if (!way.isEmpty()) {
                throw definition.refusal(
                        step.id(),
                        "workflow",
                        "this closes a circle of workflows: %s. Each run would start the next without an end."
                                .formatted(String.join(" → ", way)),
                        "Take one of the calls out, or let one of them end the circle by an event instead.");
            }
        });
    }
}
