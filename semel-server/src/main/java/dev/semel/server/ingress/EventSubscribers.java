package dev.semel.server.ingress;

import dev.semel.runtime.SemelRuntime;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowTriggers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Index of the workflows that subscribe to events, per workspace, cached until the catalog changes. */
final class EventSubscribers {
    private final SemelRuntime semel;
    private final ConcurrentHashMap<Integer, SubscriptionIndex> known = new ConcurrentHashMap<>();

    EventSubscribers(SemelRuntime semel) {
        this.semel = semel;
    }

    /**
     * Workflows by subscribed event type.
     *
     * @param change catalog version for which this index is valid
     * @param byTypePrefix workflows with a wildcard type, matched by prefix
     */
    record SubscriptionIndex(long change, Map<String, List<CurrentWorkflow>> byType, List<CurrentWorkflow> byTypePrefix) {
        /** The workflows that may subscribe to an event of this type, each once. */
        List<CurrentWorkflow> find(String type) {
            List<CurrentWorkflow> exact = byType.getOrDefault(type, List.of());
            if (byTypePrefix.isEmpty()) {
                return exact;
            }
            List<CurrentWorkflow> all = new ArrayList<>(exact);
            byTypePrefix.stream().filter(one -> !exact.contains(one)).forEach(all::add);
            return all;
        }
    }

    /** One lookup at a time per workspace: concurrent events wait for it instead of repeating it. */
    SubscriptionIndex findIndex(int workspace) {
        SubscriptionIndex now = known.get(workspace);
        return now != null && now.change() == semel.catalogVersion()
                ? now
                : known.compute(workspace, (ws, before) -> {
                    long change = semel.catalogVersion(); // before the lookup: a change during it causes another
                    return before != null && before.change() == change ? before : loadIndex(ws, change);
                });
    }

    private SubscriptionIndex loadIndex(int workspace, long change) {
        Map<String, List<CurrentWorkflow>> byType = new HashMap<>();
        List<CurrentWorkflow> open = new ArrayList<>();
        for (CurrentWorkflow current : semel.events().subscribers(workspace)) {
            for (WorkflowTriggers.EventSubscription one : current.published().options().triggers().events()) {
                List<CurrentWorkflow> place = one.isPrefix() ? open : byType.computeIfAbsent(one.type(), _ -> new ArrayList<>());
                if (!place.contains(current)) {
                    place.add(current);
                }
            }
        }
        return new SubscriptionIndex(change, byType, open);
    }
}
