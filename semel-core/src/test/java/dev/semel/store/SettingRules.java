package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.StoreCommand.SettingResult;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Documents that a workspace keeps: versions, and who may replace which. */
interface SettingRules {
    SettingKind WATCHED = new SettingKind("channel", false, true);
    SettingKind KEEPING = new SettingKind("template", true, true);
    SettingKind PLAIN = new SettingKind("profile", false, false);

    TestStoreClient desk();

    private SettingName name(SettingKind kind, String text) {
        return new SettingName(desk().ws, kind, text);
    }

    private StoredRows.SettingRow put(SettingName name, String body, @Nullable Integer expected) {
        SettingResult placed = desk().change(new StoreCommand.SaveSetting(name, body, expected, "tester"));
        return assertInstanceOf(SettingResult.Saved.class, placed).row();
    }

    private StoredRows.SettingRow row(SettingName name, int version, String body) {
        return new StoredRows.SettingRow(
                name.workspace(),
                name.kind().word(),
                name.text(),
                version,
                body,
                desk().place.time(),
                "tester",
                false);
    }

    private static StoredRows.SettingRow there(StoredRows.@Nullable SettingRow row) {
        assertNotNull(row);
        return row;
    }

    @Test
    default void a_put_creates_the_next_version_and_an_unchanged_text_creates_none() {
        SettingName name = name(PLAIN, "anna");
        assertNull(desk().reads.setting(desk().ws, "profile", "anna"));
        assertEquals(row(name, 1, "{\"a\":1}"), put(name, "{\"a\":1}", null));
        assertEquals(row(name, 2, "{\"a\":2}"), put(name, "{\"a\":2}", null));
        StoredRows.SettingRow second = row(name, 2, "{\"a\":2}");
        desk().place.advance(Duration.ofSeconds(1));
        assertEquals(second, put(name, "{\"a\":2}", null), "nothing changed, not even when");
        assertEquals(second, desk().reads.setting(desk().ws, "profile", "anna"));
        assertNull(desk().reads.setting(desk().ws, "channel", "anna"), "another kind");
        assertNull(desk().reads.setting(desk().ws + 1, "profile", "anna"), "another workspace");
    }

    @Test
    default void of_two_writers_replacing_one_version_one_gets_a_conflict() {
        for (SettingKind kind : List.of(WATCHED, KEEPING, PLAIN)) {
            SettingName name = name(kind, "contested");
            put(name, "{}", 0);
            StoredRows.SettingRow won = put(name, "{\"by\":\"one\"}", 1);
            assertEquals(2, won.version());
            SettingResult lost = desk().change(new StoreCommand.SaveSetting(name, "{\"by\":\"two\"}", 1, "two"));
            assertEquals(new SettingResult.VersionConflict(2), lost);
            SettingResult lateRemoval = desk().change(new StoreCommand.RemoveSetting(name, 1, "two"));
            assertEquals(new SettingResult.VersionConflict(2), lateRemoval);
            assertEquals(won, desk().reads.setting(desk().ws, kind.word(), "contested"));
        }
    }

    @Test
    default void a_new_document_does_not_overwrite_an_existing_one() {
        SettingName name = name(PLAIN, "anna");
        put(name, "{}", 0);
        assertEquals(
                new SettingResult.VersionConflict(1),
                desk().change(new StoreCommand.SaveSetting(name, "{\"a\":1}", 0, "tester")));
        assertEquals(
                new SettingResult.VersionConflict(0),
                desk().change(new StoreCommand.SaveSetting(name(PLAIN, "nobody"), "{}", 1, "tester")),
                "none");
        assertNull(desk().reads.setting(desk().ws, "profile", "nobody"));
    }

    @Test
    default void a_put_with_a_lost_response_returns_the_same_again() {
        for (SettingKind kind : List.of(WATCHED, KEEPING, PLAIN)) {
            SettingName name = name(kind, "lost");
            put(name, "{}", null);
            var edit = new StoreCommand.SaveSetting(name, "{\"a\":1}", 1, "tester");
            SettingResult first = desk().change(edit);
            long change = desk().reads.catalogVersion();
            assertEquals(first, desk().change(edit));
            assertEquals(change, desk().reads.catalogVersion());
            var removal = new StoreCommand.RemoveSetting(name, 2, "tester");
            SettingResult removed = desk().change(removal);
            desk().place.advance(Duration.ofSeconds(1));
            assertEquals(removed, desk().change(removal));
        }
    }

    @Test
    default void older_versions_are_kept_only_if_the_kind_keeps_them() {
        for (SettingKind kind : List.of(KEEPING, PLAIN)) {
            SettingName name = name(kind, "a");
            put(name, "{\"v\":1}", null);
            put(name, "{\"v\":2}", null);
            put(name, "{\"v\":3}", null);
            List<Integer> kept = desk().reads.settingVersions(desk().ws, kind.word(), "a").stream()
                    .map(StoredRows.SettingRow::version)
                    .toList();
            assertEquals(kind.keepsHistory() ? List.of(3, 2, 1) : List.of(3), kept);
            StoredRows.SettingRow first = desk().reads.setting(desk().ws, kind.word(), "a", 1);
            assertEquals(kind.keepsHistory() ? row(name, 1, "{\"v\":1}") : null, first);
        }
    }

    @Test
    default void a_removed_document_is_gone_and_its_version_number_continues() {
        SettingName name = name(PLAIN, "anna");
        assertEquals(new SettingResult.NotFound(), desk().change(new StoreCommand.RemoveSetting(name, null, "tester")));
        put(name, "{\"secret\":true}", null);
        SettingResult removed = desk().change(new StoreCommand.RemoveSetting(name, null, "tester"));
        StoredRows.SettingRow stone =
                assertInstanceOf(SettingResult.Saved.class, removed).row();
        assertEquals(2, stone.version());
        assertTrue(stone.removed());
        assertEquals("", stone.body());
        assertNull(desk().reads.setting(desk().ws, "profile", "anna"));
        assertEquals(List.of(), desk().reads.settings(desk().ws, "profile", "", 10));
        assertEquals(stone, desk().reads.setting(desk().ws, "profile", "anna", 2));
        assertEquals(1, desk().place.count("semel_setting"), "nothing of what it was is left");
        assertEquals(3, put(name, "{}", 0).version(), "so nobody takes the new one for the old one");
    }

    @Test
    default void documents_are_paged_by_name_and_large_texts_are_left_out() {
        String large = "\"" + "x".repeat(5_000) + "\"";
        put(name(KEEPING, "b"), "{}", null);
        put(name(KEEPING, "b"), "{\"v\":2}", null);
        put(name(KEEPING, "c"), large, null);
        put(name(KEEPING, "a"), "{}", null);
        put(name(WATCHED, "aa"), "{}", null);
        List<StoredRows.SettingRow> first = desk().reads.settings(desk().ws, "template", "", 2);
        assertEquals(
                List.of("a", "b"),
                first.stream().map(StoredRows.SettingRow::name).toList());
        assertEquals("{\"v\":2}", first.getLast().body());
        List<StoredRows.SettingRow> rest = desk().reads.settings(desk().ws, "template", "b", 2);
        assertEquals(
                List.of("c"), rest.stream().map(StoredRows.SettingRow::name).toList());
        assertEquals("", rest.getFirst().body());
        assertEquals(
                large, there(desk().reads.setting(desk().ws, "template", "c")).body());
    }

    @Test
    default void only_settings_cached_by_workers_change_the_catalog_and_are_audited() {
        long before = desk().reads.catalogVersion();
        long audited = desk().place.count("semel_audit");
        put(name(PLAIN, "anna"), "{}", null);
        desk().change(new StoreCommand.RemoveSetting(name(PLAIN, "anna"), null, "tester"));
        assertEquals(before, desk().reads.catalogVersion());
        put(name(WATCHED, "mail"), "{}", null);
        assertEquals(before + 1, desk().reads.catalogVersion());
        put(name(WATCHED, "mail"), "{}", null);
        assertEquals(before + 1, desk().reads.catalogVersion());
        desk().change(new StoreCommand.RemoveSetting(name(WATCHED, "mail"), null, "tester"));
        assertEquals(before + 2, desk().reads.catalogVersion());
        assertEquals(audited + 2, desk().place.count("semel_audit"));
        StoredRows.AuditRow newest = desk().reads.audit(desk().ws, null, 1).getFirst();
        assertEquals(
                List.of("tester", "channel.remove", "mail", "version 2"),
                List.of(newest.actor(), newest.action(), newest.target(), newest.reason()));
    }

    @Test
    default void a_setting_based_on_an_outdated_count_is_rejected() {
        SettingName mine = name(WATCHED, "mine");
        SettingName theirs = name(WATCHED, "theirs");
        put(mine, "{}", 0);
        put(theirs, "{}", 0);
        long counted = desk().reads.catalogVersion();
        var put = new StoreCommand.ChangeSettingIfCatalogUnchanged(
                new StoreCommand.SaveSetting(mine, "{\"a\":1}", 1, "tester"), counted);
        var removal = new StoreCommand.ChangeSettingIfCatalogUnchanged(
                new StoreCommand.RemoveSetting(theirs, 1, "tester"), counted);
        SettingResult first = desk().change(put);
        assertEquals(2, assertInstanceOf(SettingResult.Saved.class, first).row().version());
        assertEquals(first, desk().change(put), "applied again it tells the same, though it moved the catalog itself");
        assertEquals(
                new SettingResult.VersionConflict(1), desk().change(removal), "of two who counted at once one wins");
        assertNotNull(desk().reads.setting(desk().ws, "channel", "theirs"));
        var again = new StoreCommand.ChangeSettingIfCatalogUnchanged(
                new StoreCommand.RemoveSetting(theirs, 1, "tester"),
                desk().reads.catalogVersion());
        SettingResult removed = desk().change(again);
        assertTrue(assertInstanceOf(SettingResult.Saved.class, removed).row().removed());
        assertEquals(removed, desk().change(again));
        assertEquals(
                new SettingResult.VersionConflict(2),
                desk().change(asOfNow(new StoreCommand.SaveSetting(mine, "{\"a\":2}", 1, "tester"))));
        assertEquals(
                new SettingResult.NotFound(),
                desk().change(asOfNow(new StoreCommand.RemoveSetting(name(WATCHED, "none"), 1, "tester"))));
        assertThrows(
                IllegalArgumentException.class,
                () -> asOfNow(new StoreCommand.RemoveSetting(name(PLAIN, "anna"), 1, "tester")));
    }

    private StoreCommand.ChangeSettingIfCatalogUnchanged asOfNow(StoreCommand<SettingResult> place) {
        return new StoreCommand.ChangeSettingIfCatalogUnchanged(
                place, desk().reads.catalogVersion());
    }
}
