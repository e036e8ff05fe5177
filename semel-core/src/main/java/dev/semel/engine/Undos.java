package dev.semel.engine;

import dev.semel.workflow.Durable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What undoes the work of a run, in the order in which it was registered. Registering is not on record: a run that is
 * taken up again registers the same ones on its way. Each undo has a scope of its own, so its effects have keys of
 * their own.
 */
final class Undos {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Durable.Undo> registered = new LinkedHashMap<>();

    /** @param prefix the scope of the undo, which nobody else has */
    void add(String prefix, Durable.Undo undo) {
        lock.lock();
        try {
            registered.put(prefix, undo);
        } finally {
            lock.unlock();
        }
    }

    /** Runs all of them, last first; one that fails does not keep the others from running. Answers who failed. */
    List<String> run(Execution execution) {
        List<String> failed = new ArrayList<>(unknown(execution));
        for (String prefix : List.copyOf(registered.keySet()).reversed()) {
            Scope scope = new Scope(execution, prefix, true);
            try {
                Durable.Undo undo = registered.get(prefix);
                if (undo != null) {
                    undo.run(new DurableScope(scope));
                }
            } catch (Unwind | Ambient.Death end) {
                throw end;
            } catch (Throwable e) {
                failed.add(prefix);
            } finally {
                scope.close();
            }
            execution.goOn(); // the code of an undo may swallow the end too, and hides nothing by it
        }
        return failed;
    }

    /** Undos that are on record and that the code does not know any more. A person who cancels has seen that. */
    private Set<String> unknown(Execution execution) {
        Set<String> unknown = execution.memory().undos();
        unknown.removeAll(registered.keySet());
        if (!unknown.isEmpty() && !execution.cancelled()) {
            execution.counters().diverged.increment();
            throw execution.end(new Unwind.Held(
                    "code",
                    "The record of this run has begun with undo \""
                            + unknown.iterator().next()
                            + "\", but the code does not register it any more. Nothing was done and the run is held. "
                            + "Deploy code that registers it under that name, or cancel the run."));
        }
        return unknown;
    }
}
