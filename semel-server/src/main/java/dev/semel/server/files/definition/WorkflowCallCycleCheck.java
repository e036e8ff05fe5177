package dev.semel.server.files.definition;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Rejects workflows that call each other in a cycle, because their runs would start new runs without end. */
public final class WorkflowCallCycleCheck {
    private WorkflowCallCycleCheck() {}

    /**
     * The call cycle, with the same first and last workflow; empty if there is none.
     *
     * @param first the called workflow with which the path begins
     * @param calls returns the workflows that a workflow calls; none for an unknown workflow
     */
    static List<String> findCycle(String workflow, String first, Function<String, ? extends Collection<String>> calls) {
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
     * @param calls returns the workflows that a workflow calls
     * @throws dev.semel.error.SemelException `invalid-definition`, with the step that closes the cycle
     */
    public static void rejectCycles(
            WorkflowDefinition definition, Function<String, ? extends Collection<String>> calls) {
        definition.steps().forEach(step -> {
            String called = step.action().calledWorkflow();
            List<String> way = called == null ? List.of() : findCycle(definition.name(), called, calls);
            if (!way.isEmpty()) {
                throw definition.errorAt(
                        step.id(),
                        "workflow",
                        "this closes a cycle of workflows: %s. Each run would start the next one without end."
                                .formatted(String.join(" → ", way)),
                        "Remove one of the calls, or replace one with an event.");
            }
        });
    }
}
