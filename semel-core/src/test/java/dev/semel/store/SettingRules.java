package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Edit.Placed;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Documents that a workspace keeps: versions, and who may replace which. */
interface SettingRules {
    SettingKind WATCHED = new SettingKind("channel", false, true);
    SettingKind KEEPING = new SettingKind("template", true, true);
    SettingKind PLAIN = new SettingKind("profile", false, false);

    Desk desk();

    private SettingName name(SettingKind kind, String text) {
        return new SettingName(desk().ws, kind, text);
    }

    private Rows.Setting put(SettingName name, String body, @Nullable Integer expected) {
        Placed placed = desk().change(new Edit.Put(name, body, expected, "tester"));
        return assertInstanceOf(Placed.Now.class, placed).row();
    }

    private Rows.Setting row(SettingName name, int version, String body) {
        return new Rows.Setting(
                name.workspace(),
                name.kind().word(),
                name.text(),
                version,
                body,
                desk().place.time(),
                "tester",
                false);
    }

    private static Rows.Setting there(Rows.@Nullable Setting row) {
        assertNotNull(row);
        return row;
    }

    @Test
    default void a_put_makes_the_next_version_and_an_unchanged_text_makes_none() {
        SettingName name = name(PLAIN, "anna");
        assertNull(desk().reads.setting(desk().ws, "profile", "anna"));
        assertEquals(row(name, 1, "{\"a\":1}"), put(name, "{\"a\":1}", null));
        assertEquals(row(name, 2, "{\"a\":2}"), put(name, "{\"a\":2}", null));
        Rows.Setting second = row(name, 2, "{\"a\":2}");
        desk().place.advance(Duration.ofSeconds(1));
        assertEquals(second, put(name, "{\"a\":2}", null), "nothing changed, not even when");
        assertEquals(second, desk().reads.setting(desk().ws, "profile", "anna"));
        assertNull(desk().reads.setting(desk().ws, "channel", "anna"), "another kind");
        assertNull(desk().reads.setting(desk().ws + 1, "profile", "anna"), "another workspace");
    }

    @Test
    default void of_two_who_replace_the_same_version_one_wins_and_the_other_is_told() {
        for (SettingKind kind : List.of(WATCHED, KEEPING, PLAIN)) {
            SettingName name = name(kind, "contested");
            put(name, "{}", 0);
            Rows.Setting won = put(name, "{\"by\":\"one\"}", 1);
            assertEquals(2, won.version());
            Placed lost = desk().change(new Edit.Put(name, "{\"by\":\"two\"}", 1, "two"));
            assertEquals(new Placed.Moved(2), lost);
            Placed lateRemoval = desk().change(new Edit.Remove(name, 1, "two"));
            assertEquals(new Placed.Moved(2), lateRemoval);
            assertEquals(won, desk().reads.setting(desk().ws, kind.word(), "contested"));
        }
    }

    @Test
    default void a_new_document_is_not_made_over_one_that_is_there() {
        SettingName name = name(PLAIN, "anna");
        put(name, "{}", 0);
        assertEquals(new Placed.Moved(1), desk().change(new Edit.Put(name, "{\"a\":1}", 0, "tester")));
        assertEquals(
                new Placed.Moved(0), desk().change(new Edit.Put(name(PLAIN, "nobody"), "{}", 1, "tester")), "none");
        assertNull(desk().reads.setting(desk().ws, "profile", "nobody"));
    }

    @Test
    default void a_put_whose_answer_was_lost_is_told_the_same_again() {
        for (SettingKind kind : List.of(WATCHED, KEEPING, PLAIN)) {
            SettingName name = name(kind, "lost");
            put(name, "{}", null);
            var edit = new Edit.Put(name, "{\"a\":1}", 1, "tester");
            Placed first = desk().change(edit);
            long change = desk().reads.catalogChange();
            assertEquals(first, desk().change(edit));
            assertEquals(change, desk().reads.catalogChange());
            var removal = new Edit.Remove(name, 2, "tester");
            Placed removed = desk().change(removal);
            desk().place.advance(Duration.ofSeconds(1));
            assertEquals(removed, desk().change(removal));
        }
    }

    @Test
    default void older_versions_are_kept_only_where_the_kind_says_so() {
        for (SettingKind kind : List.of(KEEPING, PLAIN)) {
            SettingName name = name(kind, "a");
            put(name, "{\"v\":1}", null);
            put(name, "{\"v\":2}", null);
            put(name, "{\"v\":3}", null);
            List<Integer> kept = desk().reads.settingVersions(desk().ws, kind.word(), "a").stream()
                    .map(Rows.Setting::version)
                    .toList();
            assertEquals(kind.keepsHistory() ? List.of(3, 2, 1) : List.of(3), kept);
            Rows.Setting first = desk().reads.setting(desk().ws, kind.word(), "a", 1);
            assertEquals(kind.keepsHistory() ? row(name, 1, "{\"v\":1}") : null, first);
        }
    }

    @Test
    default void a_removed_document_is_gone_and_its_number_goes_on() {
        SettingName name = name(PLAIN, "anna");
        assertEquals(new Placed.Absent(), desk().change(new Edit.Remove(name, null, "tester")));
        put(name, "{\"secret\":true}", null);
        Placed removed = desk().change(new Edit.Remove(name, null, "tester"));
        Rows.Setting stone = assertInstanceOf(Placed.Now.class, removed).row();
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
    default void documents_are_listed_by_name_page_by_page_and_large_texts_are_left_out() {
        String large = "\"" + "x".repeat(5_000) + "\"";
        put(name(KEEPING, "b"), "{}", null);
        put(name(KEEPING, "b"), "{\"v\":2}", null);
        put(name(KEEPING, "c"), large, null);
        put(name(KEEPING, "a"), "{}", null);
        put(name(WATCHED, "aa"), "{}", null);
        List<Rows.Setting> first = desk().reads.settings(desk().ws, "template", "", 2);
        assertEquals(List.of("a", "b"), first.stream().map(Rows.Setting::name).toList());
        assertEquals("{\"v\":2}", first.getLast().body());
        List<Rows.Setting> rest = desk().reads.settings(desk().ws, "template", "b", 2);
        assertEquals(List.of("c"), rest.stream().map(Rows.Setting::name).toList());
        assertEquals("", rest.getFirst().body());
        assertEquals(
                large, there(desk().reads.setting(desk().ws, "template", "c")).body());
    }

    @Test
    default void what_workers_remember_moves_the_catalog_and_is_in_the_audit_and_the_rest_is_not() {
        long before = desk().reads.catalogChange();
        long audited = desk().place.count("semel_audit");
        put(name(PLAIN, "anna"), "{}", null);
        desk().change(new Edit.Remove(name(PLAIN, "anna"), null, "tester"));
        assertEquals(before, desk().reads.catalogChange());
        put(name(WATCHED, "mail"), "{}", null);
        assertEquals(before + 1, desk().reads.catalogChange());
        put(name(WATCHED, "mail"), "{}", null);
        assertEquals(before + 1, desk().reads.catalogChange());
        desk().change(new Edit.Remove(name(WATCHED, "mail"), null, "tester"));
        assertEquals(before + 2, desk().reads.catalogChange());
        assertEquals(audited + 2, desk().place.count("semel_audit"));
        Rows.Audit newest = desk().reads.audit(desk().ws, null, 1).getFirst();
        assertEquals(
                List.of("tester", "channel.remove", "mail", "version 2"),
                List.of(newest.actor(), newest.action(), newest.target(), newest.reason()));
    }

    @Test
    default void what_was_counted_before_another_document_moved_is_not_placed() {
        SettingName mine = name(WATCHED, "mine");
        SettingName theirs = name(WATCHED, "theirs");
        put(mine, "{}", 0);
        put(theirs, "{}", 0);
        long counted = desk().reads.catalogChange();
        var put = new Edit.PlaceAsOf(new Edit.Put(mine, "{\"a\":1}", 1, "tester"), counted);
        var removal = new Edit.PlaceAsOf(new Edit.Remove(theirs, 1, "tester"), counted);
        Placed first = desk().change(put);
        assertEquals(2, assertInstanceOf(Placed.Now.class, first).row().version());
        assertEquals(first, desk().change(put), "applied again it tells the same, though it moved the catalog itself");
        assertEquals(new Placed.Moved(1), desk().change(removal), "of two who counted at once one wins");
        assertNotNull(desk().reads.setting(desk().ws, "channel", "theirs"));
        var again = new Edit.PlaceAsOf(
                new Edit.Remove(theirs, 1, "tester"), desk().reads.catalogChange());
        Placed removed = desk().change(again);
        assertTrue(assertInstanceOf(Placed.Now.class, removed).row().removed());
        assertEquals(removed, desk().change(again));
        assertEquals(new Placed.Moved(2), desk().change(asOfNow(new Edit.Put(mine, "{\"a\":2}", 1, "tester"))));
        assertEquals(new Placed.Absent(), desk().change(asOfNow(new Edit.Remove(name(WATCHED, "none"), 1, "tester"))));
        assertThrows(IllegalArgumentException.class, () -> asOfNow(new Edit.Remove(name(PLAIN, "anna"), 1, "tester")));
    }

    private Edit.PlaceAsOf asOfNow(Edit<Placed> place) {
        return new Edit.PlaceAsOf(place, desk().reads.catalogChange());
    }
}
