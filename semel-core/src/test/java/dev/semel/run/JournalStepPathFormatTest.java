package dev.semel.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The paths of steps: what they look like, and that every location has its own. */
final class JournalStepPathFormatTest {
    private static final long SEED = Long.getLong("seed", 20_261_118L);

    /** A scope with the facts that its path must give back. */
    private record Scope(
            String path,
            String location,
            @Nullable String branches,
            @Nullable String compensation) {
        static final Scope BODY = new Scope(JournalStepPathFormat.ROOT, "body", null, null);

        Scope item(String name, String item) {
            return new Scope(
                    JournalStepPathFormat.branch(path, name, item),
                    location + " > item " + quoted(item) + " of " + quoted(name),
                    JournalStepPathFormat.branches(path, name),
                    compensation);
        }

        Scope undo(String name) {
            String scope = JournalStepPathFormat.compensation(path, name);
            return new Scope(
                    scope, location + " > undo " + quoted(name), null, compensation == null ? scope : compensation);
        }
    }

    private static String quoted(String name) {
        return name.length() + ":" + name;
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
        step             | pay              | pay
        with a slash     | a/b              | a\\/b
        with brackets    | a[0]             | a\\[0\\]
        with a hash      | #now.1           | \\#now.1
        with a backslash | a\\b             | a\\\\b
        only at its end  | a/               | a\\/
        all of them      | /[]#\\           | \\/\\[\\]\\#\\\\
        other characters | ü 😀 "." - _ { } | ü 😀 "." - _ { }
        """)
    void path_characters_in_a_name_are_escaped(String what, String name, String path) {
        assertEquals(path, JournalStepPathFormat.of(JournalStepPathFormat.ROOT, name), what);
        assertEquals(name, JournalStepPathFormat.nameOf(path), what);
    }

    @Test
    void a_path_shows_its_scopes_from_the_outside_in() {
        String item = JournalStepPathFormat.branch(JournalStepPathFormat.ROOT, "lines", "sku/7");
        assertEquals("lines[sku\\/7]/", item);
        assertEquals("lines[sku\\/7]/ship", JournalStepPathFormat.of(item, "ship"));
        assertEquals("lines[sku\\/7]/parts[]", JournalStepPathFormat.branches(item, "parts"));
        assertEquals("lines[sku\\/7]/#now.2", JournalStepPathFormat.unnamed(item, "now", 2));
        assertEquals("lines[sku\\/7]//undo/ship\\[1\\]/", JournalStepPathFormat.compensation(item, "ship[1]"));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
        # scope          | for each       | compensation
        ''               | none           | none
        a[1]/            | a[]            | none
        a[]/             | a[]            | none
        a[1]/b[2]/       | a[1]/b[]       | none
        /undo/a/         | none           | /undo/a/
        /undo/a\\/b/     | none           | /undo/a\\/b/
        /undo/a\\]/      | none           | /undo/a\\]/
        /undo/a\\\\/     | none           | /undo/a\\\\/
        /undo/a/b[1]/    | /undo/a/b[]    | /undo/a/
        a[1]//undo/b/    | none           | a[1]//undo/b/
        a[\\/]//undo/b/  | none           | a[\\/]//undo/b/
        a[\\[1\\]]/      | a[]            | none
        a\\[[1]/         | a\\[[]         | none
        a[\\\\]/         | a[]            | none
        /undo/a//undo/b/ | none           | /undo/a/
        undo[1]/         | undo[]         | none
        """)
    void a_scope_belongs_to_a_for_each_and_to_a_compensation(
            String scope, @Nullable String branches, @Nullable String compensation) {
        assertEquals(branches, JournalStepPathFormat.branchesOf(scope));
        assertEquals(compensation, JournalStepPathFormat.compensationOf(scope));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        a                 | a
        a[1]/b            | a[]/b
        a[]/b             | a[]/b
        a[]               | a[]
        a[1]/b[2]/c       | a[]/b[]/c
        a[\\]\\[\\\\]/b     | a[]/b
        a\\[1\\]/b        | a\\[1\\]/b
        a[1]//undo/b\\]/c | a[]//undo/b\\]/c
        a\\               | a\\
        """)
    void all_iterations_of_a_step_have_the_same_path_without_items(String path, String step) {
        assertEquals(step, JournalStepPathFormat.withoutItems(path));
    }

    @Test
    void only_the_path_of_a_whole_for_each_ends_with_brackets() {
        assertTrue(JournalStepPathFormat.isBranches(JournalStepPathFormat.branches("a[1]/", "b")));
        assertFalse(JournalStepPathFormat.isBranches(JournalStepPathFormat.of("a[1]/", "b")));
        assertFalse(JournalStepPathFormat.isBranches(JournalStepPathFormat.of("", "b[]")));
    }

    @Test
    void a_text_that_ends_with_a_backslash_is_a_name_too() {
        assertEquals("a/b\\", JournalStepPathFormat.nameOf("a\\/b\\"));
    }

    @Test
    void every_location_has_its_own_path_and_a_path_gives_its_location_back() {
        Random random = new Random(SEED);
        Map<String, String> locations = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            Scope scope = scope(random);
            String name = name(random);
            String path = JournalStepPathFormat.of(scope.path(), name);
            String seed = path + " seed " + SEED;
            assertEquals(scope.path(), JournalStepPathFormat.scopeOf(path), seed);
            assertEquals(name, JournalStepPathFormat.nameOf(path), seed);
            assertEquals(scope.branches(), JournalStepPathFormat.branchesOf(scope.path()), seed);
            assertEquals(scope.compensation(), JournalStepPathFormat.compensationOf(scope.path()), seed);
            assertEquals(
                    scope.path(), JournalStepPathFormat.scopeOf(JournalStepPathFormat.branches(scope.path(), name)));
            String location = scope.location() + " > " + quoted(name);
            String before = locations.putIfAbsent(path, location);
            assertEquals(before == null ? location : before, location, seed);
            assertNotEquals(path, JournalStepPathFormat.unnamed(scope.path(), "now", 1), seed);
        }
    }

    private static Scope scope(RandomGenerator random) {
        Scope scope = Scope.BODY;
        for (int depth = random.nextInt(4); depth > 0; depth--) {
            scope = random.nextInt(3) == 0 ? scope.undo(name(random)) : scope.item(name(random), name(random));
        }
        return scope;
    }

    /** Short, so that names collide if anything is wrong. */
    private static String name(RandomGenerator random) {
        String characters = "ab/[]#\\.undo";
        StringBuilder name = new StringBuilder();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            name.append(characters.charAt(random.nextInt(characters.length())));
        }
        return random.nextInt(10) == 0 ? "undo" : name.toString();
    }
}
