package dev.semel.server.connectors.ingress;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowTriggers;
import dev.semel.runtime.SemelRuntime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Index of the workflows that subscribe to events, per workspace, cached until the catalog changes. */
final class EventSubscriberIndex {
    private final SemelRuntime semel;
    private final ConcurrentHashMap<Integer, SubscriptionIndex> indexes = new ConcurrentHashMap<>();

    EventSubscriberIndex(SemelRuntime semel) {
        this.semel = semel;
    }

    /**
     * @param change catalog version for which this index is valid
     * @param byTypePrefix workflows with a wildcard type, matched by prefix
     */
    record SubscriptionIndex(
            long change, Map<String, List<WorkflowCatalogEntry>> byType, List<WorkflowCatalogEntry> byTypePrefix) {
        /** The workflows that may subscribe to an event of this type, each once. */
        List<WorkflowCatalogEntry> find(String type) {
            List<WorkflowCatalogEntry> exact = byType.getOrDefault(type, List.of());
            if (byTypePrefix.isEmpty()) {
                return exact;
            }
            List<WorkflowCatalogEntry> all = new ArrayList<>(exact);
            byTypePrefix.stream().filter(one -> !exact.contains(one)).forEach(all::add);
            return all;
        }
    }

    /** One lookup at a time per workspace: concurrent events wait for it instead of repeating it. */
    SubscriptionIndex findIndex(int workspace) {
        SubscriptionIndex now = indexes.get(workspace);
        return now != null && now.change() == semel.catalogVersion()
                ? now
                : indexes.compute(workspace, (ws, before) -> {
                    long change = semel.catalogVersion(); // before the lookup: a change during it causes another
                    return before != null && before.change() == change ? before : loadIndex(ws, change);
                });
    }

    private SubscriptionIndex loadIndex(int workspace, long change) {
        Map<String, List<WorkflowCatalogEntry>> byType = new HashMap<>();
        List<WorkflowCatalogEntry> open = new ArrayList<>();
        for (WorkflowCatalogEntry current : semel.events().subscribers(workspace)) {
            for (WorkflowTriggers.EventSubscription one :
                    current.published().options().triggers().events()) {
                List<WorkflowCatalogEntry> currentWorkflows =
                        one.isPrefix() ? open : byType.computeIfAbsent(one.type(), _ -> new ArrayList<>());
                if (!currentWorkflows.contains(current)) {
                    currentWorkflows.add(current);
                }
            }
        }
        return new SubscriptionIndex(change, byType, open);
    }
}
