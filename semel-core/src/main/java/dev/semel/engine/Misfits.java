package dev.semel.engine;

import dev.semel.run.RunId;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs that this process holds because the code that it has does not fit their record. A record only grows, so the same
 * code would never fit it: such a run is left to others until other code is registered here.
 */
final class Misfits {
    private static final int MOST = 100_000;

    private final ConcurrentHashMap<RunId, String> tried = new ConcurrentHashMap<>();

    void note(RunLoop.Resident run, Unwind.Held held) {
        if (held.reason().equals("code")) {
            add(run.id(), run.workflow().workflowId());
        }
    }

    void add(RunId run, String workflowId) {
        if (tried.size() >= MOST) {
            tried.clear(); // they are tried once more, which costs a look at each
        }
        tried.put(run, workflowId);
    }

    boolean has(RunId run) {
        return tried.containsKey(run);
    }

    /** Other code of this workflow was registered. */
    void forget(String workflowId) {
        tried.values().removeIf(workflowId::equals);
    }
}
