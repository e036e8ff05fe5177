package dev.semel.server.api;

import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/** Reads values that the store always has. */
final class StoreReader {
    private StoreReader() {}

    static <T> T read(SemelRuntime semel, Function<StoreQueries, T> query) {
        return Objects.requireNonNull(semel.view(query::apply));
    }

    /** All journal entries of a run, in order. */
    static List<JournalEntry> journal(StoreQueries reads, DatabaseRows.RunRow run) {
        List<JournalEntry> entries = new ArrayList<>();
        entries.addAll(JournalCodec.decodeAll(reads.journal(run.id()).stream()
                .map(StoreQueries.JournalChunk::entries)
                .toList()));
        if (run.end() != null) {
            entries.addAll(JournalCodec.decode(run.end().entries()));
        }
        return entries;
    }

    /** The store's clock, in microseconds. */
    static long now(SemelRuntime semel) {
        return read(semel, StoreQueries::now);
    }
}
