package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What earlier runs of a lineage have on record, for those that replay them. */
final class Earlier {
    private Earlier() {}

    /**
     * What a tx step of an earlier run left, whose rows are in the database since then; null where there is none. No row
     * of the ledger tells of it: the record of that run is the one that was committed with the rows.
     */
    static @Nullable JsonNode committed(Execution execution, String path) {
        RunLoop.Resident run = execution.run();
        if (run.lineage().equals(run.id()) || execution.memory().redo().contains(path)) {
            return null;
        }
        return execution.maybe(reads -> {
            for (RunId before : members(reads, run.lineage())) {
                JsonNode result = before.compareTo(run.id()) < 0 ? committed(reads, before, path) : null;
                if (result != null) {
                    return result;
                }
            }
            return null;
        });
    }

    /** All runs of a lineage, the oldest first. */
    static List<RunId> members(Reads reads, RunId first) {
        List<RunId> all = new ArrayList<>();
        all.add(first);
        all.addAll(reads.lineage(first));
        return all;
    }

    private static @Nullable JsonNode committed(Reads reads, RunId run, String path) {
        for (Entry entry : record(reads.claimed(run), reads.journal(run))) {
            if (entry instanceof Entry.Done done
                    && done.kind() == Entry.Kind.TX
                    && done.path().equals(path)) {
                return done.result();
            }
        }
        return null;
    }

    /** Signals that came to a run and that it did not take; not what people decided, which is for the very question. */
    static List<Rows.Signal> untaken(Reads reads, RunId run) {
        Set<String> taken = new Memory(record(reads.claimed(run), reads.journal(run))).takenSignals();
        return reads.signals(run).stream()
                .filter(signal -> !signal.name().startsWith("#")
                        && !taken.contains(signal.id().text()))
                .toList();
    }

    /** The whole journal of a run: its chunks, and what its end holds. */
    static List<Entry> record(Rows.@Nullable Run run, List<Reads.Chunk> chunks) {
        List<Entry> entries = new ArrayList<>();
        chunks.forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        Rows.End end = run == null ? null : run.end();
        if (end != null && !end.entries().isEmpty()) {
            entries.addAll(Journal.decode(end.entries()));
        }
        return entries;
    }
}
