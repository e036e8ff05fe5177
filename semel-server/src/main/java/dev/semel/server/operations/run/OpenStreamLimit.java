package dev.semel.server.operations.run;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Principal;
import dev.semel.server.http.SharedLimit;
import java.util.List;

/** Limits the open event streams of a server, and of each workspace and token, so that one of them leaves some to others. */
final class OpenStreamLimit {
    static final int MAX_STREAMS = 1_000;
    static final int MAX_OF_WORKSPACE = 500;
    static final int MAX_OF_TOKEN = 100;

    private final SharedLimit open = new SharedLimit();

    private static List<SharedLimit.Owner> owners(Principal caller) {
        return List.of(
                new SharedLimit.Owner("This server", MAX_STREAMS),
                new SharedLimit.Owner("Workspace " + caller.workspaceName(), MAX_OF_WORKSPACE),
                new SharedLimit.Owner("The caller " + caller.tokenId(), MAX_OF_TOKEN));
    }

    /** Rejects a stream over a limit. Counts nothing, because a response without a body never opens its stream. */
    void check(Principal caller) {
        SharedLimit.Owner full = open.findFull(owners(caller));
        if (full != null) {
            throw new SemelException(
                    ErrorCode.OVERLOADED,
                    full.name() + " has reached the limit of " + full.most()
                            + " open streams. The server did not open this one.",
                    "Close other streams or retry in a moment. GET /v1/runs lists the same runs.");
        }
    }

    /** Counts a stream that starts now. @return false if others started since {@link #check} and reached a limit */
    boolean tryOpen(Principal caller) {
        return open.tryTake(owners(caller)) == null;
    }

    void close(Principal caller) {
        open.release(owners(caller));
    }
}
