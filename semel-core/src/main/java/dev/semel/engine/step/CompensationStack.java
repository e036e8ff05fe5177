package dev.semel.engine.step;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.engine.ClockAndRandomSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** Registrations are not recorded: a recovery repeats them. Each has its own scope, so its effects have own keys. */
public final class CompensationStack {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, DurableWorkflowOperations.Compensation> registered = new LinkedHashMap<>();

    /** @param prefix the unique scope of the compensation */
    public void register(String prefix, DurableWorkflowOperations.Compensation undo) {
        lock.lock();
        try {
            registered.put(prefix, undo);
        } finally {
            lock.unlock();
        }
    }

    /** Runs all of them, last first; a failure does not stop the others. Returns which ones failed. */
    public List<String> runAll(
            InMemoryRunExecutionState execution, Function<StepJournalMatcher, DurableWorkflowOperations> operationsOf) {
        List<String> failed = new ArrayList<>(unknown(execution));
        for (String prefix : List.copyOf(registered.keySet()).reversed()) {
            StepJournalMatcher scope = new StepJournalMatcher(execution, prefix, true);
            try {
                DurableWorkflowOperations.Compensation undo = registered.get(prefix);
                if (undo != null) {
                    undo.run(operationsOf.apply(scope));
                }
            } catch (RunExecutionAbort | ClockAndRandomSource.SimulatedCrash end) {
                throw end;
            } catch (Throwable e) {
                failed.add(prefix);
            } finally {
                scope.close();
            }
            execution.throwIfEnded(); // its code may swallow the end of the execution, too
        }
        return failed;
    }

    /** The journal has them, and the code no longer registers them. Holds the run, unless a user cancelled it. */
    private Set<String> unknown(InMemoryRunExecutionState execution) {
        Set<String> unknown = execution.journal().compensationScopes();
        unknown.removeAll(registered.keySet());
        if (!unknown.isEmpty() && !execution.cancelled()) {
            execution.counters().diverged.increment();
            throw execution.end(new RunExecutionAbort.Held(
                    "code",
                    "The journal of this run has compensation \""
                            + unknown.iterator().next()
                            + "\", but the workflow code no longer registers it. No compensation ran and the run is"
                            + " held. Deploy code that registers it under that name, or cancel the run."));
        }
        return unknown;
    }
}
