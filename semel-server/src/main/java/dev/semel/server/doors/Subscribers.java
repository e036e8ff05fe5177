package dev.semel.server.doors;

import dev.semel.Semel;
import dev.semel.workflow.Current;
import dev.semel.workflow.Doors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Index of the workflows that subscribe to events, per workspace, cached until the catalog changes. */
final class Subscribers {
    private final Semel semel;
    private final ConcurrentHashMap<Integer, Known> known = new ConcurrentHashMap<>();

    Subscribers(Semel semel) {
        this.semel = semel;
    }

    /**
     * Workflows by subscribed event type.
     *
     * @param change catalog version for which this index is valid
     * @param open workflows with a wildcard type, matched by prefix
     */
    record Known(long change, Map<String, List<Current>> byType, List<Current> open) {
        /** The workflows that may subscribe to an event of this type, each once. */
        List<Current> of(String type) {
            List<Current> exact = byType.getOrDefault(type, List.of());
            if (open.isEmpty()) {
                return exact;
            }
            List<Current> all = new ArrayList<>(exact);
            open.stream().filter(one -> !exact.contains(one)).forEach(all::add);
            return all;
        }
    }

    /** One lookup at a time per workspace: concurrent events wait for it instead of repeating it. */
    Known of(int workspace) {
        Known now = known.get(workspace);
        return now != null && now.change() == semel.changes()
                ? now
                : known.compute(workspace, (ws, before) -> {
                    long change = semel.changes(); // before the lookup: a change during it causes another
                    return before != null && before.change() == change ? before : loadIndex(ws, change);
                });
    }

    private Known loadIndex(int workspace, long change) {
        Map<String, List<Current>> byType = new HashMap<>();
        List<Current> open = new ArrayList<>();
        for (Current current : semel.events().subscribers(workspace)) {
            for (Doors.Subscription one : current.published().extras().doors().events()) {
                List<Current> place = one.isOpen() ? open : byType.computeIfAbsent(one.type(), _ -> new ArrayList<>());
                if (!place.contains(current)) {
                    place.add(current);
                }
            }
        }
        return new Known(change, byType, open);
    }
}
