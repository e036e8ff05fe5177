package dev.semel.testing.memory;

import dev.semel.store.Edit;
import dev.semel.store.Edit.Placed;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Documents of a workspace. */
final class SettingEdits {
    private static final int MOST_VERSIONS = 200;
    private static final int LONGEST_IN_LISTS = 4_096;

    private final Tables tables;

    SettingEdits(Tables tables) {
        this.tables = tables;
    }

    /** @param changed false where what was asked for stood already, or was refused */
    record Outcome(Placed placed, boolean changed) {}

    Outcome put(Edit.Put put, long now) {
        Rows.Setting newest = newest(put.name());
        if (newest != null && !newest.removed() && newest.body().equals(put.body())) {
            return new Outcome(new Placed.Now(newest), false);
        }
        int current = newest == null || newest.removed() ? 0 : newest.version();
        if (put.expected() != null && put.expected() != current) {
            return new Outcome(new Placed.Moved(current), false);
        }
        return place(put.name(), newest, row(put.name(), put.body(), put.actor(), now));
    }

    Outcome remove(Edit.Remove remove, long now) {
        Rows.Setting newest = newest(remove.name());
        if (newest == null) {
            return new Outcome(new Placed.Absent(), false);
        }
        if (newest.removed()) {
            return new Outcome(new Placed.Now(newest), false);
        }
        if (remove.expected() != null && remove.expected() != newest.version()) {
            return new Outcome(new Placed.Moved(newest.version()), false);
        }
        return place(remove.name(), newest, row(remove.name(), null, remove.actor(), now));
    }

    private Outcome place(SettingName name, Rows.@Nullable Setting before, Rows.Setting wanted) {
        if (before != null && !name.kind().keepsHistory()) {
            tables.settings.remove(key(before));
        }
        Rows.Setting next = numbered(wanted, before == null ? 1 : before.version() + 1);
        tables.settings.put(key(next), next);
        return new Outcome(new Placed.Now(next), true);
    }

    private static Rows.Setting numbered(Rows.Setting row, int version) {
        return new Rows.Setting(
                row.ws(), row.kind(), row.name(), version, row.body(), row.changedAt(), row.changedBy(), row.removed());
    }

    /** @param body null: it says that the document was removed */
    private static Rows.Setting row(SettingName name, @Nullable String body, String actor, long now) {
        String text = body == null ? "" : body;
        return new Rows.Setting(name.workspace(), name.kind().word(), name.text(), 1, text, now, actor, body == null);
    }

    private static Tables.SettingKey key(Rows.Setting row) {
        return new Tables.SettingKey(row.ws(), row.kind(), row.name(), row.version());
    }

    private Rows.@Nullable Setting newest(SettingName name) {
        return versions(tables, name.workspace(), name.kind().word(), name.text())
                .findFirst()
                .orElse(null);
    }

    private static Stream<Rows.Setting> versions(Tables tables, int ws, String kind, String name) {
        return tables
                .settings
                .rows()
                .subMap(
                        new Tables.SettingKey(ws, kind, name, 0),
                        true,
                        new Tables.SettingKey(ws, kind, name, Integer.MAX_VALUE),
                        true)
                .descendingMap()
                .values()
                .stream();
    }

    static Rows.@Nullable Setting current(Tables tables, int ws, String kind, String name) {
        return versions(tables, ws, kind, name)
                .findFirst()
                .filter(row -> !row.removed())
                .orElse(null);
    }

    static List<Rows.Setting> kept(Tables tables, int ws, String kind, String name) {
        return versions(tables, ws, kind, name)
                .limit(MOST_VERSIONS)
                .map(SettingEdits::inLists)
                .toList();
    }

    static List<Rows.Setting> page(Tables tables, int ws, String kind, String after) {
        return tables.settings.rows().values().stream()
                .filter(row ->
                        row.ws() == ws && row.kind().equals(kind) && row.name().compareTo(after) > 0)
                .filter(row -> row.equals(current(tables, ws, kind, row.name())))
                .sorted(Comparator.comparing(Rows.Setting::name))
                .map(SettingEdits::inLists)
                .toList();
    }

    private static Rows.Setting inLists(Rows.Setting row) {
        return row.body().length() <= LONGEST_IN_LISTS
                ? row
                : new Rows.Setting(
                        row.ws(),
                        row.kind(),
                        row.name(),
                        row.version(),
                        "",
                        row.changedAt(),
                        row.changedBy(),
                        row.removed());
    }
}
