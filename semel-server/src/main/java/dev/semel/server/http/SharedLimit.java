package dev.semel.server.http;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Limits what is in progress at once, in all and of each owner, so that one owner leaves some places to others. */
public final class SharedLimit {
    private final Map<String, Integer> taken = new HashMap<>();

    /** @param most how many places the owner may have */
    public record Owner(String name, int most) {}

    /** The first owner without a free place; null if all have one. */
    public synchronized @Nullable Owner findFull(List<Owner> owners) {
        for (Owner owner : owners) {
            if (taken.getOrDefault(owner.name(), 0) >= owner.most()) {
                return owner;
            }
        }
        return null;
    }

    /** Takes a place of each owner, or none. @return the owner without a free place; null if the places were taken */
    public synchronized @Nullable Owner tryTake(List<Owner> owners) {
        Owner full = findFull(owners);
        if (full == null) {
            owners.forEach(owner -> taken.merge(owner.name(), 1, Integer::sum));
        }
        return full;
    }

    public synchronized void release(List<Owner> owners) {
        owners.forEach(owner -> taken.computeIfPresent(owner.name(), (_, count) -> count == 1 ? null : count - 1));
    }
}
