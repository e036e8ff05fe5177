package dev.semel.engine;

import dev.semel.json.StorableText;
import dev.semel.json.StrictJsonCodec;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The signals of a run that no wait has taken, by name and without their values. A wake-up wakes all waiting branches, so
 * one read of the store serves them all. A wait that finds a known signal reads only its value.
 */
final class SignalInbox {
    private final InMemoryRunExecutionState execution;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deque<DatabaseRows.UnreadSignal>> byName = new HashMap<>();
    private long reads;
    private long wakeUpsBeforeRead = -1;

    SignalInbox(InMemoryRunExecutionState execution) {
        this.execution = execution;
    }

    /** Looks of one wait. Used by one thread. */
    final class SignalSearch {
        private long readSeen;

        /**
         * Returns the oldest signal of the first of these names that has any. The store is read if this search has seen
         * the last read, or if the run was woken since.
         *
         * @param wakeUps of the run, counted before this look
         */
        DatabaseRows.@Nullable UnreadSignal find(long wakeUps, String... names) {
            lock.lock();
            try {
                DatabaseRows.UnreadSignal known = first(names);
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
        DatabaseRows.@Nullable UnreadSignal findNew(long wakeUps, String... names) {
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

    private DatabaseRows.@Nullable UnreadSignal first(String... names) {
        for (String name : names) {
            Deque<DatabaseRows.UnreadSignal> known =
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

    /** Reads the value of a signal. The run is parked first if this worker has too little memory for it. */
    JsonNode value(DatabaseRows.UnreadSignal signal) {
        if (!execution.size().mayParse(signal.bytes())) {
            throw execution.end(new RunExecutionAbort.Parked());
        }
        String text =
                execution.read(queries -> queries.signalValue(execution.run().id(), signal));
        return StrictJsonCodec.parse(text);
    }

    /** Makes room for further signals after the journal has this one. Does not wait: the next execution tries again. */
    void discard(DatabaseRows.UnreadSignal recorded) {
        RunExecutor.ActiveRun run = execution.run();
        var command = new StoreWriteCommand.DiscardSignal(run.id(), recorded.name(), recorded.key());
        var unused = execution.engine().committer().submit(run.lane(), new StoreWrite.ExecuteCommand<>(command));
    }

    private void read(long wakeUps) {
        // The count first: a signal that arrives in between makes the parked run due at once.
        execution.noteSignalCount(
                execution.read(queries -> queries.signalCount(execution.run().id())));
        List<DatabaseRows.UnreadSignal> all =
                execution.read(queries -> queries.unreadSignals(execution.run().id()));
        List<DatabaseRows.UnreadSignal> taken = new ArrayList<>();
        byName.clear();
        for (DatabaseRows.UnreadSignal one : all) {
            if (!execution.isTaken(one.id().text())) {
                byName.computeIfAbsent(one.name(), _ -> new ArrayDeque<>()).add(one);
            } else {
                taken.add(one);
            }
        }
        if (!taken.isEmpty()) {
            // An earlier execution recorded them and ended before it could discard them.
            Set<String> recorded = execution.journal().consumedSignals();
            taken.stream().filter(one -> recorded.contains(one.id().text())).forEach(this::discard);
        }
        reads++;
        wakeUpsBeforeRead = wakeUps;
    }
}
