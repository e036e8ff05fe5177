package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Repository for setting documents of one kind, parsed and cached. A change applies immediately on this worker and
 * within half a second on others.
 */
public final class SettingRepository<T> {
    private static final int REMEMBERED_AT_MOST = 10_000;

    private final SemelRuntime semel;
    private final DocumentType<T> sort;
    private final ConcurrentHashMap<CacheKey, CachedSetting<T>> known = new ConcurrentHashMap<>();

    /**
     * The kind of document that a repository stores.
     *
     * @param name display name, such as `template`
     * @param maxBytes most bytes of a document
     * @param reader parses the document or throws with its problems
     */
    record DocumentType<T>(SettingKind kind, String name, int maxBytes, Function<JsonNode, T> reader) {}

    /** The stored version of a document. */
    public record StoredSetting<T>(String name, int version, T value, long changedAt) {}

    private record CacheKey(int workspace, String name) {}

    /** @param kept null: there was none, which is cached too */
    private record CachedSetting<T>(@Nullable StoredSetting<T> kept, long change) {}

    SettingRepository(SemelRuntime semel, DocumentType<T> sort) {
        this.semel = semel;
        this.sort = sort;
    }

    public String typeName() {
        return sort.name();
    }

    /** The current version; null if there is none. */
    public @Nullable StoredSetting<T> find(int workspace, String name) {
        if (!sort.kind().changesCatalog()) {
            return toStored(findRow(workspace, name));
        }
        CacheKey place = new CacheKey(workspace, name);
        // Read before the lookup: a change in between leaves the cache entry outdated, so it is read again.
        long change = semel.catalogVersion();
        CachedSetting<T> remembered = known.get(place);
        if (remembered != null && remembered.change() == change) {
            return remembered.kept();
        }
        StoredSetting<T> found = toStored(findRow(workspace, name));
        if (known.size() >= REMEMBERED_AT_MOST) {
            known.clear();
        }
        known.put(place, new CachedSetting<>(found, change));
        return found;
    }

    /** One version, if the kind has a history. */
    public @Nullable StoredSetting<T> findVersion(int workspace, String name, int version) {
        StoredRows.SettingRow row =
                semel.view(reads -> reads.setting(workspace, sort.kind().word(), name, version));
        return row == null || row.removed() ? null : toStored(row);
    }

    private @Nullable StoredSetting<T> toStored(StoredRows.@Nullable SettingRow row) {
        return row == null
                ? null
                : new StoredSetting<>(row.name(), row.version(), sort.reader().apply(StrictJson.parse(row.body())), row.changedAt());
    }

    public StoredRows.@Nullable SettingRow findRow(int workspace, String name) {
        return semel.view(reads -> reads.setting(workspace, sort.kind().word(), name));
    }

    public StoredRows.@Nullable SettingRow findRow(int workspace, String name, int version) {
        return semel.view(reads -> reads.setting(workspace, sort.kind().word(), name, version));
    }

    /** Current versions in name order, after {@code after}. */
    public List<StoredRows.SettingRow> page(int workspace, String after, int limit) {
        List<StoredRows.SettingRow> rows =
                semel.view(reads -> reads.settings(workspace, sort.kind().word(), after, limit));
        return rows == null ? List.of() : rows;
    }

    public List<StoredRows.SettingRow> versions(int workspace, String name) {
        List<StoredRows.SettingRow> rows =
                semel.view(reads -> reads.settingVersions(workspace, sort.kind().word(), name));
        return rows == null ? List.of() : rows;
    }

    /** Parses and validates a document; throws if it is invalid. */
    public T parse(JsonNode document) {
        if (StrictJson.write(document).getBytes(StandardCharsets.UTF_8).length > sort.maxBytes()) {
            throw new SemelException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "A " + sort.name() + " may have at most " + sort.maxBytes() / 1_024 + " KiB. Nothing was changed.",
                    "Send a smaller document.");
        }
        return sort.reader().apply(document);
    }

    /** Prepares the edit that stores this document. */
    public StoreCommand.SaveSetting preparePut(SettingDraft draft) {
        return new StoreCommand.SaveSetting(
                name(draft.workspace(), draft.name()), StrictJson.write(draft.document()), draft.expected(), draft.actor());
    }

    public StoreCommand.RemoveSetting prepareRemove(int workspace, String name, @Nullable Integer expected, String actor) {
        return new StoreCommand.RemoveSetting(name(workspace, name), expected, actor);
    }

    private SettingName name(int workspace, String name) {
        return new SettingName(workspace, sort.kind(), name);
    }

    /**
     * A document to store.
     *
     * @param expected the version it replaces; 0: it must be new; null: any
     */
    public record SettingDraft(
            int workspace,
            String name,
            JsonNode document,
            @Nullable Integer expected,
            String actor) {}
}
