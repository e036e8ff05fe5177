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
 * Documents of one kind, read into values. Those that every worker remembers are looked up again when the catalog has
 * moved: a change counts here at once and at other workers within half a second.
 */
public final class Shelf<T> {
    private static final int REMEMBERED_AT_MOST = 10_000;

    private final Semel semel;
    private final Sort<T> sort;
    private final ConcurrentHashMap<Place, Remembered<T>> known = new ConcurrentHashMap<>();

    /**
     * What is on a shelf.
     *
     * @param word for people, such as `template`
     * @param largest bytes of a document
     * @param reader makes the value, or refuses the document with what is wrong
     */
    record Sort<T>(SettingKind kind, String word, int largest, Function<JsonNode, T> reader) {}

    /** A document as it stands. */
    public record Kept<T>(String name, int version, T value, long changedAt) {}

    private record Place(int workspace, String name) {}

    /** @param kept null: there was none, which is worth remembering too */
    private record Remembered<T>(@Nullable Kept<T> kept, long change) {}

    Shelf(Semel semel, Sort<T> sort) {
        this.semel = semel;
        this.sort = sort;
    }

    public String word() {
        return sort.word();
    }

    /** The current version; null where there is none. */
    public @Nullable Kept<T> find(int workspace, String name) {
        if (!sort.kind().watched()) {
            return kept(row(workspace, name));
        }
        Place place = new Place(workspace, name);
        // Taken before the look-up: what changes in between is remembered under a number that has passed.
        long change = semel.changes();
        Remembered<T> remembered = known.get(place);
        if (remembered != null && remembered.change() == change) {
            return remembered.kept();
        }
        Kept<T> found = kept(row(workspace, name));
        if (known.size() >= REMEMBERED_AT_MOST) {
            known.clear();
        }
        known.put(place, new Remembered<>(found, change));
        return found;
    }

    /** One version, where the kind keeps a history. */
    public @Nullable Kept<T> version(int workspace, String name, int version) {
        Rows.Setting row =
                semel.view(reads -> reads.setting(workspace, sort.kind().word(), name, version));
        return row == null || row.removed() ? null : kept(row);
    }

    private @Nullable Kept<T> kept(Rows.@Nullable Setting row) {
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

    /** Current versions by name, behind {@code after}. */
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

    /** Reads the document, so that one that does not fit is refused; answers what it says. */
    public T check(JsonNode document) {
        if (Json.write(document).getBytes(StandardCharsets.UTF_8).length > sort.largest()) {
            throw new SemelException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    "A " + sort.word() + " has at most " + sort.largest() / 1_024 + " KiB. Nothing was changed.",
                    "Make it smaller.");
        }
        return sort.reader().apply(document);
    }

    /** The change that keeps this document. */
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
     * What is to be kept.
     *
     * @param expected the version it replaces, 0 where there must be none; null: whatever there is
     */
    public record Draft(
            int workspace,
            String name,
            JsonNode document,
            @Nullable Integer expected,
            String actor) {}
}
