package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Documents are parsed and cached. A change applies immediately on this worker and within half a second on others. */
public final class WorkspaceSettingRepository<T> {
    private static final int REMEMBERED_AT_MOST = 10_000;

    private final SemelRuntime semel;
    private final WorkspaceSettingName.SettingKind kind;
    private final int maxBytes;
    private final Function<JsonNode, T> reader;
    private final ConcurrentHashMap<CacheKey, CachedSetting<T>> cache = new ConcurrentHashMap<>();

    public record StoredSetting<T>(String name, int version, T value, long changedAt) {}

    private record CacheKey(int workspace, String name) {}

    /** @param kept null: there was none, which is cached too */
    private record CachedSetting<T>(@Nullable StoredSetting<T> kept, long change) {}

    /**
     * @param maxBytes most bytes of a document
     * @param reader parses the document or throws with its problems
     */
    WorkspaceSettingRepository(
            SemelRuntime semel, WorkspaceSettingName.SettingKind kind, int maxBytes, Function<JsonNode, T> reader) {
        this.semel = semel;
        this.kind = kind;
        this.maxBytes = maxBytes;
        this.reader = reader;
    }

    public String typeName() {
        return kind.word();
    }

    /** The current version; null if there is none. */
    public @Nullable StoredSetting<T> find(int workspace, String name) {
        if (!kind.changesCatalog()) {
            return toStored(findRow(workspace, name));
        }
        CacheKey cacheKey = new CacheKey(workspace, name);
        // Read before the lookup: a change in between leaves the cache entry outdated, so it is read again.
        long change = semel.catalogVersion();
        CachedSetting<T> remembered = cache.get(cacheKey);
        if (remembered != null && remembered.change() == change) {
            return remembered.kept();
        }
        StoredSetting<T> found = toStored(findRow(workspace, name));
        if (cache.size() >= REMEMBERED_AT_MOST) {
            cache.clear();
        }
        cache.put(cacheKey, new CachedSetting<>(found, change));
        return found;
    }

    /** One version, if the kind has a history. */
    public @Nullable StoredSetting<T> findVersion(int workspace, String name, int version) {
        DatabaseRows.SettingRow row = findRow(workspace, name, version);
        return row == null || row.removed() ? null : toStored(row);
    }

    private @Nullable StoredSetting<T> toStored(DatabaseRows.@Nullable SettingRow row) {
        return row == null
                ? null
                : new StoredSetting<>(
                        row.name(), row.version(), reader.apply(StrictJsonCodec.parse(row.body())), row.changedAt());
    }

    public DatabaseRows.@Nullable SettingRow findRow(int workspace, String name) {
        return semel.view(reads -> reads.setting(workspace, kind.word(), name));
    }

    public DatabaseRows.@Nullable SettingRow findRow(int workspace, String name, int version) {
        return semel.view(reads -> reads.setting(workspace, kind.word(), name, version));
    }

    /** Current versions in name order, after {@code after}. */
    public List<DatabaseRows.SettingRow> page(int workspace, String after, int limit) {
        return Objects.requireNonNullElse(
                semel.view(reads -> reads.settings(workspace, kind.word(), after, limit)), List.of());
    }

    public List<DatabaseRows.SettingRow> versions(int workspace, String name) {
        return Objects.requireNonNullElse(
                semel.view(reads -> reads.settingVersions(workspace, kind.word(), name)), List.of());
    }

    /** Parses and validates a document; throws if it is invalid. */
    public T parse(JsonNode document) {
        if (StrictJsonCodec.write(document).getBytes(StandardCharsets.UTF_8).length > maxBytes) {
            throw new SemelException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "A " + kind.word() + " may have at most " + maxBytes / 1_024 + " KiB. Nothing was changed.",
                    "Send a smaller document.");
        }
        return reader.apply(document);
    }

    public StoreWriteCommand.SaveSetting preparePut(SettingDraft draft) {
        return new StoreWriteCommand.SaveSetting(
                new WorkspaceSettingName(draft.workspace(), kind, draft.name()),
                StrictJsonCodec.write(draft.document()),
                draft.expected(),
                draft.actor());
    }

    public StoreWriteCommand.RemoveSetting prepareRemove(
            int workspace, String name, @Nullable Integer expected, String actor) {
        return new StoreWriteCommand.RemoveSetting(new WorkspaceSettingName(workspace, kind, name), expected, actor);
    }

    /** @param expected the version it replaces; 0: it must be new; null: any */
    public record SettingDraft(
            int workspace,
            String name,
            JsonNode document,
            @Nullable Integer expected,
            String actor) {}
}
