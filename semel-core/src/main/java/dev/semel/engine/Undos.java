package dev.semel.engine;

import dev.semel.workflow.Durable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What undoes the work of a run, in the order in which it was registered. Registering is not on record: a run that is
 * taken up again registers the same ones on its way. Each undo has a scope of its own, so its effects have keys of
 * their own.
 */
final class Undos {
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Registered> registered = new ArrayList<>();

    private record Registered(String prefix, Durable.Undo undo) {}

    void add(String prefix, Durable.Undo undo) {
        lock.lock();
        try {
            registered.add(new Registered(prefix, undo));
        } finally {
            lock.unlock();
        }
    }

    /** Runs all of them, last first; one that fails does not keep the others from running. Answers who failed. */
    List<String> run(Execution execution) {
        List<String> failed = new ArrayList<>();
        for (Registered one : registered.reversed()) {
            Scope scope = new Scope(execution, one.prefix(), true);
            try {
                one.undo().run(new DurableScope(scope));
            } catch (Unwind | Ambient.Death end) {
                throw end;
            } catch (Throwable e) {
                failed.add(one.prefix());
            } finally {
                scope.close();
            }
        }
        return failed;
    }
}
