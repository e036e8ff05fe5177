package dev.semel.server.query;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads values that the store always has. */
public final class StoreReader {
    private StoreReader() {}

    public static <T> T read(SemelRuntime semel, Function<StoreQueries, T> query) {
        return Objects.requireNonNull(semel.view(query::apply));
    }

    /** All journal entries of a run, in order. */
    public static List<JournalEntry> journal(StoreQueries reads, DatabaseRows.RunRow run) {
        List<JournalEntry> entries = new ArrayList<>();
        entries.addAll(JournalCodec.decodeAll(reads.journal(run.id()).stream()
                .map(StoreQueries.JournalChunk::entries)
                .toList()));
        if (run.end() != null) {
            entries.addAll(JournalCodec.decode(run.end().entries()));
        }
        return entries;
    }

    /** The workflow with this name or id, or a 404. */
    public static WorkflowCatalogEntry workflow(SemelRuntime semel, int workspace, String nameOrId) {
        return ApiErrors.orThrow(semel.workflow(workspace, nameOrId), ApiErrors::unknownWorkflow);
    }

    /** The id of the workflow with this name or id, or a 404; null for none. */
    public static @Nullable String workflowId(SemelRuntime semel, int workspace, @Nullable String nameOrId) {
        return nameOrId == null
                ? null
                : workflow(semel, workspace, nameOrId).published().workflowId();
    }

    /** The store's clock, in microseconds. */
    public static long now(SemelRuntime semel) {
        return read(semel, StoreQueries::now);
    }
}
