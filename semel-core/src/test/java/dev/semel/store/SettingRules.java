package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.StoreWriteCommand.SettingResult;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Documents that a workspace keeps: versions, and who may replace which. */
interface SettingRules {
    WorkspaceSettingName.SettingKind WATCHED = new WorkspaceSettingName.SettingKind("channel", false, true);
    WorkspaceSettingName.SettingKind KEEPING = new WorkspaceSettingName.SettingKind("template", true, true);
    WorkspaceSettingName.SettingKind PLAIN = new WorkspaceSettingName.SettingKind("profile", false, false);

    TestStoreClient client();

    private WorkspaceSettingName name(WorkspaceSettingName.SettingKind kind, String text) {
        return new WorkspaceSettingName(client().ws, kind, text);
    }

    private DatabaseRows.SettingRow put(WorkspaceSettingName name, String body, @Nullable Integer expected) {
        SettingResult placed = client().change(new StoreWriteCommand.SaveSetting(name, body, expected, "tester"));
        return assertInstanceOf(SettingResult.Saved.class, placed).row();
    }

    private DatabaseRows.SettingRow row(WorkspaceSettingName name, int version, String body) {
        return new DatabaseRows.SettingRow(
                name.workspace(),
                name.kind().word(),
                name.text(),
                version,
                body,
                client().fixture.time(),
                "tester",
                false);
    }

    private static DatabaseRows.SettingRow there(DatabaseRows.@Nullable SettingRow row) {
        assertNotNull(row);
        return row;
    }

    @Test
    default void a_put_creates_the_next_version_and_an_unchanged_text_creates_none() {
        WorkspaceSettingName name = name(PLAIN, "anna");
        assertNull(client().reads.setting(client().ws, "profile", "anna"));
        assertEquals(row(name, 1, "{\"a\":1}"), put(name, "{\"a\":1}", null));
        assertEquals(row(name, 2, "{\"a\":2}"), put(name, "{\"a\":2}", null));
        DatabaseRows.SettingRow second = row(name, 2, "{\"a\":2}");
        client().fixture.advance(Duration.ofSeconds(1));
        assertEquals(second, put(name, "{\"a\":2}", null), "nothing changed, not even when");
        assertEquals(second, client().reads.setting(client().ws, "profile", "anna"));
        assertNull(client().reads.setting(client().ws, "channel", "anna"), "another kind");
        assertNull(client().reads.setting(client().ws + 1, "profile", "anna"), "another workspace");
    }

    @Test
    default void of_two_writers_replacing_one_version_one_gets_a_conflict() {
        for (WorkspaceSettingName.SettingKind kind : List.of(WATCHED, KEEPING, PLAIN)) {
            WorkspaceSettingName name = name(kind, "contested");
            put(name, "{}", 0);
            DatabaseRows.SettingRow won = put(name, "{\"by\":\"one\"}", 1);
            assertEquals(2, won.version());
            SettingResult lost = client().change(new StoreWriteCommand.SaveSetting(name, "{\"by\":\"two\"}", 1, "two"));
            assertEquals(new SettingResult.VersionConflict(2), lost);
            SettingResult lateRemoval = client().change(new StoreWriteCommand.RemoveSetting(name, 1, "two"));
            assertEquals(new SettingResult.VersionConflict(2), lateRemoval);
            assertEquals(won, client().reads.setting(client().ws, kind.word(), "contested"));
        }
    }

    @Test
    default void a_new_document_does_not_overwrite_an_existing_one() {
        WorkspaceSettingName name = name(PLAIN, "anna");
        put(name, "{}", 0);
        assertEquals(
                new SettingResult.VersionConflict(1),
                client().change(new StoreWriteCommand.SaveSetting(name, "{\"a\":1}", 0, "tester")));
        assertEquals(
                new SettingResult.VersionConflict(0),
                client().change(new StoreWriteCommand.SaveSetting(name(PLAIN, "nobody"), "{}", 1, "tester")),
                "none");
        assertNull(client().reads.setting(client().ws, "profile", "nobody"));
    }

    @Test
    default void a_put_with_a_lost_response_returns_the_same_again() {
        for (WorkspaceSettingName.SettingKind kind : List.of(WATCHED, KEEPING, PLAIN)) {
            WorkspaceSettingName name = name(kind, "lost");
            put(name, "{}", null);
            var edit = new StoreWriteCommand.SaveSetting(name, "{\"a\":1}", 1, "tester");
            SettingResult first = client().change(edit);
            long change = client().reads.catalogVersion();
            assertEquals(first, client().change(edit));
            assertEquals(change, client().reads.catalogVersion());
            var removal = new StoreWriteCommand.RemoveSetting(name, 2, "tester");
            SettingResult removed = client().change(removal);
            client().fixture.advance(Duration.ofSeconds(1));
            assertEquals(removed, client().change(removal));
        }
    }

    @Test
    default void older_versions_are_kept_only_if_the_kind_keeps_them() {
        for (WorkspaceSettingName.SettingKind kind : List.of(KEEPING, PLAIN)) {
            WorkspaceSettingName name = name(kind, "a");
            put(name, "{\"v\":1}", null);
            put(name, "{\"v\":2}", null);
            put(name, "{\"v\":3}", null);
            List<Integer> kept = client().reads.settingVersions(client().ws, kind.word(), "a").stream()
                    .map(DatabaseRows.SettingRow::version)
                    .toList();
            assertEquals(kind.keepsHistory() ? List.of(3, 2, 1) : List.of(3), kept);
            DatabaseRows.SettingRow first = client().reads.setting(client().ws, kind.word(), "a", 1);
            assertEquals(kind.keepsHistory() ? row(name, 1, "{\"v\":1}") : null, first);
        }
    }

    @Test
    default void a_removed_document_is_gone_and_its_version_number_continues() {
        WorkspaceSettingName name = name(PLAIN, "anna");
        assertEquals(
                new SettingResult.NotFound(),
                client().change(new StoreWriteCommand.RemoveSetting(name, null, "tester")));
        put(name, "{\"secret\":true}", null);
        SettingResult removed = client().change(new StoreWriteCommand.RemoveSetting(name, null, "tester"));
        DatabaseRows.SettingRow stone =
                assertInstanceOf(SettingResult.Saved.class, removed).row();
        assertEquals(2, stone.version());
        assertTrue(stone.removed());
        assertEquals("", stone.body());
        assertNull(client().reads.setting(client().ws, "profile", "anna"));
        assertEquals(List.of(), client().reads.settings(client().ws, "profile", "", 10));
        assertEquals(stone, client().reads.setting(client().ws, "profile", "anna", 2));
        assertEquals(1, client().fixture.count("semel_setting"), "nothing of what it was is left");
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
        List<DatabaseRows.SettingRow> first = client().reads.settings(client().ws, "template", "", 2);
        assertEquals(
                List.of("a", "b"),
                first.stream().map(DatabaseRows.SettingRow::name).toList());
        assertEquals("{\"v\":2}", first.getLast().body());
        List<DatabaseRows.SettingRow> rest = client().reads.settings(client().ws, "template", "b", 2);
        assertEquals(
                List.of("c"), rest.stream().map(DatabaseRows.SettingRow::name).toList());
        assertEquals("", rest.getFirst().body());
        assertEquals(
                large,
                there(client().reads.setting(client().ws, "template", "c")).body());
    }

    @Test
    default void only_settings_cached_by_workers_change_the_catalog_and_are_audited() {
        long before = client().reads.catalogVersion();
        long audited = client().fixture.count("semel_audit");
        put(name(PLAIN, "anna"), "{}", null);
        client().change(new StoreWriteCommand.RemoveSetting(name(PLAIN, "anna"), null, "tester"));
        assertEquals(before, client().reads.catalogVersion());
        put(name(WATCHED, "mail"), "{}", null);
        assertEquals(before + 1, client().reads.catalogVersion());
        put(name(WATCHED, "mail"), "{}", null);
        assertEquals(before + 1, client().reads.catalogVersion());
        client().change(new StoreWriteCommand.RemoveSetting(name(WATCHED, "mail"), null, "tester"));
        assertEquals(before + 2, client().reads.catalogVersion());
        assertEquals(audited + 2, client().fixture.count("semel_audit"));
        DatabaseRows.AuditRow newest =
                client().reads.audit(client().ws, null, 1).getFirst();
        assertEquals(
                List.of("tester", "channel.remove", "mail", "version 2"),
                List.of(newest.actor(), newest.action(), newest.target(), newest.reason()));
    }

    @Test
    default void a_setting_based_on_an_outdated_count_is_rejected() {
        WorkspaceSettingName mine = name(WATCHED, "mine");
        WorkspaceSettingName theirs = name(WATCHED, "theirs");
        put(mine, "{}", 0);
        put(theirs, "{}", 0);
        long counted = client().reads.catalogVersion();
        var put = new StoreWriteCommand.ChangeSettingIfCatalogUnchanged(
                new StoreWriteCommand.SaveSetting(mine, "{\"a\":1}", 1, "tester"), counted);
        var removal = new StoreWriteCommand.ChangeSettingIfCatalogUnchanged(
                new StoreWriteCommand.RemoveSetting(theirs, 1, "tester"), counted);
        SettingResult first = client().change(put);
        assertEquals(2, assertInstanceOf(SettingResult.Saved.class, first).row().version());
        assertEquals(
                first, client().change(put), "applied again it tells the same, though it moved the catalog itself");
        assertEquals(
                new SettingResult.VersionConflict(1), client().change(removal), "of two who counted at once one wins");
        assertNotNull(client().reads.setting(client().ws, "channel", "theirs"));
        var again = new StoreWriteCommand.ChangeSettingIfCatalogUnchanged(
                new StoreWriteCommand.RemoveSetting(theirs, 1, "tester"),
                client().reads.catalogVersion());
        SettingResult removed = client().change(again);
        assertTrue(assertInstanceOf(SettingResult.Saved.class, removed).row().removed());
        assertEquals(removed, client().change(again));
        assertEquals(
                new SettingResult.VersionConflict(2),
                client().change(asOfNow(new StoreWriteCommand.SaveSetting(mine, "{\"a\":2}", 1, "tester"))));
        assertEquals(
                new SettingResult.NotFound(),
                client().change(asOfNow(new StoreWriteCommand.RemoveSetting(name(WATCHED, "none"), 1, "tester"))));
        assertThrows(
                IllegalArgumentException.class,
                () -> asOfNow(new StoreWriteCommand.RemoveSetting(name(PLAIN, "anna"), 1, "tester")));
    }

    private StoreWriteCommand.ChangeSettingIfCatalogUnchanged asOfNow(StoreWriteCommand<SettingResult> storeCommand) {
        return new StoreWriteCommand.ChangeSettingIfCatalogUnchanged(
                storeCommand, client().reads.catalogVersion());
    }
}
