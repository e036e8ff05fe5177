package dev.semel.server.settings;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
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
public final class Shelf<T> {
    private static final int REMEMBERED_AT_MOST = 10_000;

    private final Semel semel;
    private final Sort<T> sort;
    private final ConcurrentHashMap<Place, Remembered<T>> known = new ConcurrentHashMap<>();

    /**
     * The kind of document that a repository stores.
     *
     * @param word display name, such as `template`
     * @param largest most bytes of a document
     * @param reader parses the document or throws with its problems
     */
    record Sort<T>(SettingKind kind, String word, int largest, Function<JsonNode, T> reader) {}

    /** The stored version of a document. */
    public record Kept<T>(String name, int version, T value, long changedAt) {}

    private record Place(int workspace, String name) {}

    /** @param kept null: there was none, which is cached too */
    private record Remembered<T>(@Nullable Kept<T> kept, long change) {}

    Shelf(Semel semel, Sort<T> sort) {
        this.semel = semel;
        this.sort = sort;
    }

    public String word() {
        return sort.word();
    }

    /** The current version; null if there is none. */
    public @Nullable Kept<T> find(int workspace, String name) {
        if (!sort.kind().watched()) {
            return toStored(row(workspace, name));
        }
        Place place = new Place(workspace, name);
        // Read before the lookup: a change in between leaves the cache entry outdated, so it is read again.
        long change = semel.changes();
        Remembered<T> remembered = known.get(place);
        if (remembered != null && remembered.change() == change) {
            return remembered.kept();
        }
        Kept<T> found = toStored(row(workspace, name));
        if (known.size() >= REMEMBERED_AT_MOST) {
            known.clear();
        }
        known.put(place, new Remembered<>(found, change));
        return found;
    }

    /** One version, if the kind has a history. */
    public @Nullable Kept<T> version(int workspace, String name, int version) {
        Rows.Setting row =
                semel.view(reads -> reads.setting(workspace, sort.kind().word(), name, version));
        return row == null || row.removed() ? null : toStored(row);
    }

    private @Nullable Kept<T> toStored(Rows.@Nullable Setting row) {
        return row == null
                ? null
                : new Kept<>(row.name(), row.version(), sort.reader().apply(Json.parse(row.body())), row.changedAt());
    }

    public Rows.@Nullable Setting row(int workspace, String name) {
        return semel.view(reads -> reads.setting(workspace, sort.kind().word(), name));
    }

    public Rows.@Nullable Setting row(int workspace, String name, int version) {
        return semel.view(reads -> reads.setting(workspace, sort.kind().word(), name, version));
    }

    /** Current versions in name order, after {@code after}. */
    public List<Rows.Setting> page(int workspace, String after, int limit) {
        List<Rows.Setting> rows =
                semel.view(reads -> reads.settings(workspace, sort.kind().word(), after, limit));
        return rows == null ? List.of() : rows;
    }

    public List<Rows.Setting> versions(int workspace, String name) {
        List<Rows.Setting> rows =
                semel.view(reads -> reads.settingVersions(workspace, sort.kind().word(), name));
        return rows == null ? List.of() : rows;
    }

    /** Parses and validates a document; throws if it is invalid. */
    public T check(JsonNode document) {
        if (Json.write(document).getBytes(StandardCharsets.UTF_8).length > sort.largest()) {
            throw new SemelException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "A " + sort.word() + " may have at most " + sort.largest() / 1_024 + " KiB. Nothing was changed.",
                    "Send a smaller document.");
        }
        return sort.reader().apply(document);
    }

    /** Prepares the edit that stores this document. */
    public Edit.Put putting(Draft draft) {
        return new Edit.Put(
                name(draft.workspace(), draft.name()), Json.write(draft.document()), draft.expected(), draft.actor());
    }

    public Edit.Remove removing(int workspace, String name, @Nullable Integer expected, String actor) {
        return new Edit.Remove(name(workspace, name), expected, actor);
    }

    private SettingName name(int workspace, String name) {
        return new SettingName(workspace, sort.kind(), name);
    }

    /**
     * A document to store.
     *
     * @param expected the version it replaces; 0: it must be new; null: any
     */
    public record Draft(
            int workspace,
            String name,
            JsonNode document,
            @Nullable Integer expected,
            String actor) {}
}
