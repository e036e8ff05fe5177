package dev.semel.engine.run;

import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.run.RunId;
import java.util.concurrent.ConcurrentHashMap;

/** A journal only grows, so the same code never matches it: other workers get the run until new code is here. */
public final class JournalCodeMismatchTracker {
    private static final int MOST = 100_000;

    private final ConcurrentHashMap<RunId, String> tried = new ConcurrentHashMap<>();

    void addIfIncompatible(ActiveRun run, RunExecutionAbort.Held held) {
        if (held.reason().equals("code")) {
            add(run.id(), run.workflow().workflowId());
        }
    }

    void add(RunId run, String workflowId) {
        if (tried.size() >= MOST) {
            tried.clear(); // they are tried again, which costs one read each
        }
        tried.put(run, workflowId);
    }

    public boolean contains(RunId run) {
        return tried.containsKey(run);
    }

    /** Forgets the runs of a workflow whose code was registered again. */
    public void forget(String workflowId) {
        tried.values().removeIf(workflowId::equals);
    }
}
