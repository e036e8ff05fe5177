package dev.semel.engine.step;

import dev.semel.json.StorableText;
import dev.semel.store.DatabaseRows;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The signals of a run that no wait has taken, by name. A wake-up wakes all waiting branches, so one read of the store
 * serves them all. A wait that finds a known signal needs no read.
 */
public final class SignalInbox {
    private final InMemoryRunExecutionState execution;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deque<DatabaseRows.SignalRow>> byName = new HashMap<>();
    private long reads;
    private long wakeUpsBeforeRead = -1;

    SignalInbox(InMemoryRunExecutionState execution) {
        this.execution = execution;
    }

    /** Looks of one wait. Used by one thread. */
    public final class SignalSearch {
        private long readSeen;

        /**
         * Returns the oldest signal of the first of these names that has any. The store is read if this search has seen
         * the last read, or if the run was woken since.
         *
         * @param wakeUps of the run, counted before this look
         */
        public DatabaseRows.@Nullable SignalRow find(long wakeUps, String... names) {
            lock.lock();
            try {
                DatabaseRows.SignalRow known = first(names);
                if (known == null && (readSeen == reads || wakeUpsBeforeRead < wakeUps)) {
                    read(wakeUps);
                    known = first(names);
                }
                readSeen = reads;
                return known;
            } finally {
                lock.unlock();
            }
        }

        /** Like {@link #find}, but reads the store first: there is a signal that the last read did not show. */
        public DatabaseRows.@Nullable SignalRow findNew(long wakeUps, String... names) {
            lock.lock();
            try {
                read(wakeUps);
                readSeen = reads;
                return first(names);
            } finally {
                lock.unlock();
            }
        }
    }

    private DatabaseRows.@Nullable SignalRow first(String... names) {
        for (String name : names) {
            Deque<DatabaseRows.SignalRow> known =
                    byName.getOrDefault(StorableText.shortenForIndex(name), new ArrayDeque<>());
            while (!known.isEmpty() && execution.isTaken(known.getFirst().id().text())) {
                known.removeFirst();
            }
            if (!known.isEmpty()) {
                return known.getFirst();
            }
        }
        return null;
    }

    private void read(long wakeUps) {
        List<DatabaseRows.SignalRow> all =
                execution.read(queries -> queries.signals(execution.run().id()));
        execution.noteSignalCount(all.size());
        byName.clear();
        for (DatabaseRows.SignalRow one : all) {
            if (!execution.isTaken(one.id().text())) {
                byName.computeIfAbsent(one.name(), _ -> new ArrayDeque<>()).add(one);
            }
        }
        reads++;
        wakeUpsBeforeRead = wakeUps;
    }
}
