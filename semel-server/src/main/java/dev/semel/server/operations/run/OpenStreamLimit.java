package dev.semel.server.operations.run;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Principal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Limits the open event streams of a server, and of each workspace and token, so that one of them leaves some to others. */
final class OpenStreamLimit {
    static final int MAX_STREAMS = 1_000;
    static final int MAX_OF_WORKSPACE = 500;
    static final int MAX_OF_TOKEN = 100;

    private final Map<String, Integer> open = new HashMap<>();

    private record CountedOwner(String name, int most) {}

    private static List<CountedOwner> owners(Principal caller) {
        return List.of(
                new CountedOwner("This server", MAX_STREAMS),
                new CountedOwner("Workspace " + caller.workspaceName(), MAX_OF_WORKSPACE),
                new CountedOwner("The caller " + caller.tokenId(), MAX_OF_TOKEN));
    }

    /** Rejects a stream over a limit. Counts nothing, because a response without a body never opens its stream. */
    synchronized void check(Principal caller) {
        for (CountedOwner owner : owners(caller)) {
            if (open.getOrDefault(owner.name(), 0) >= owner.most()) {
                throw new SemelException(
                        ErrorCode.OVERLOADED,
                        owner.name() + " has reached the limit of " + owner.most()
                                + " open streams. The server did not open this one.",
                        "Close other streams or retry in a moment. GET /v1/runs lists the same runs.");
            }
        }
    }

    /** Counts a stream that starts now. @return false if others started since {@link #check} and reached a limit */
    synchronized boolean tryOpen(Principal caller) {
        List<CountedOwner> owners = owners(caller);
        boolean free = owners.stream().allMatch(owner -> open.getOrDefault(owner.name(), 0) < owner.most());
        if (free) {
            owners.forEach(owner -> open.merge(owner.name(), 1, Integer::sum));
        }
        return free;
    }

    synchronized void close(Principal caller) {
        owners(caller)
                .forEach(owner -> open.computeIfPresent(owner.name(), (_, count) -> count == 1 ? null : count - 1));
    }
}
