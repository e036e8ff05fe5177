package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same made-up history on every store: each outcome, in the end each answer and each row, must be the same.
 * {@code -Dseed=N} plays one history, comparing the rows after every step; {@code -Dseeds=N} plays that many.
 */
final class ConformanceTest {
    private static final int STEPS = 300;
    private static final int USUAL_SEEDS = 3;

    private static final List<String> OUTCOMES = List.of(
            "Fresh(",
            "owned=true",
            "previous=PreviousHolder(",
            "expired=true",
            "expired=false",
            "duplicateOf=RunDeduplicationKeyRecord(",
            "Held(",
            "Debounced(",
            "OwnerWriteResult(recorded=false",
            "cancelRequested=true",
            "Recorded(",
            "Granted(generation=1, attempt=2",
            "Granted(generation=2",
            "Reused(",
            "Suppressed(",
            "OutcomeUnknown(",
            "inDoubt=true",
            "inDoubt=false",
            "Changed(",
            "RunExecution(",
            "claim=3",
            "DELIVERED",
            "REPEATED",
            "GONE",
            "NOTHING",
            "WorkflowRow(",
            "ValueRejected",
            "Fenced",
            "VersionConflict(version",
            "NotFound(",
            "removed=true");

    static LongStream seeds() {
        Long seed = Long.getLong("seed");
        return seed != null ? LongStream.of(seed) : LongStream.rangeClosed(1, Integer.getInteger("seeds", USUAL_SEEDS));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void all_stores_behave_alike(long seed) {
        compare(seed, List.of(ConformanceTest::sqlite, ConformanceTest::postgres));
    }

    /** Otherwise the histories could agree because little happens in them. */
    @Test
    void the_histories_cover_every_outcome() {
        TreeSet<String> missing = new TreeSet<>(OUTCOMES);
        for (long seed = 1; seed <= 60; seed++) {
            try (ScriptedStore actor = new ScriptedStore("SQLite", SqliteStoreFixture.shared())) {
                var random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
                Script script = new Script(random, actor);
                Script.opening().forEach(actor::play);
                for (int i = 0; i < STEPS; i++) {
                    String outcome = actor.play(script.next());
                    missing.removeIf(outcome::contains);
                }
                Invariants.checkAfterRetiring(actor.fixture);
            }
        }
        assertEquals(Set.of(), missing);
    }

    private static ScriptedStore sqlite() {
        return new ScriptedStore("SQLite", Dialect.SQLITE.open());
    }

    private static ScriptedStore postgres() {
        return new ScriptedStore("PostgreSQL", Dialect.POSTGRES.open());
    }

    /** Plays a history; where the rows differ in the end, plays it again to find the step that made the difference. */
    private static void compare(long seed, List<Supplier<ScriptedStore>> stores) {
        String difference = new Performance(seed, Long.getLong("seed") != null).play(stores);
        if (difference.isEmpty()) {
            return;
        }
        String closer = new Performance(seed, true).play(stores);
        fail("-Dseed=" + seed + " " + (closer.isEmpty() ? difference : closer));
    }

    private record Performance(long seed, boolean closely) {
        /** Empty, or where two stores first differ. */
        String play(List<Supplier<ScriptedStore>> stores) {
            List<ScriptedStore> actors = new ArrayList<>();
            try {
                stores.forEach(store -> actors.add(store.get()));
                return play(actors, actors.getFirst());
            } finally {
                actors.forEach(ScriptedStore::close);
            }
        }

        private String play(List<ScriptedStore> actors, ScriptedStore first) {
            var random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
            Script script = new Script(random, first);
            List<ScriptStep> opening = Script.opening();
            for (int i = 0; i < STEPS; i++) {
                ScriptStep step = i < opening.size() ? opening.get(i) : script.next();
                String expected = first.play(step);
                for (ScriptedStore other : actors.subList(1, actors.size())) {
                    String got = other.play(step);
                    if (!got.equals(expected)) {
                        return "step " + i + " " + ValueText.of(step) + "\n  " + first.name + ":\n    " + expected
                                + "\n  " + other.name + ":\n    " + got;
                    }
                    String rows = closely ? differing(first, first.rows(), other, other.rows()) : "";
                    if (!rows.isEmpty()) {
                        return "step " + i + " " + ValueText.of(step) + "\n    " + expected + rows;
                    }
                }
            }
            Invariants.checkAfterRetiring(first.fixture);
            return actors.stream()
                    .skip(1)
                    .map(other -> differing(first, other, script))
                    .filter(found -> !found.isEmpty())
                    .findFirst()
                    .orElse("");
        }

        private static String differing(ScriptedStore one, ScriptedStore other, Script script) {
            String rows = differing(one, one.rows(), other, other.rows());
            return rows.isEmpty()
                    ? differing(
                            one,
                            StoreQuerySnapshot.ask(one, script.runs()),
                            other,
                            StoreQuerySnapshot.ask(other, script.runs()))
                    : rows;
        }

        private static String differing(
                ScriptedStore one, List<String> ours, ScriptedStore other, List<String> theirs) {
            if (ours.equals(theirs)) {
                return "";
            }
            List<String> missing = new ArrayList<>(ours);
            List<String> added = new ArrayList<>(theirs);
            missing.removeAll(theirs);
            added.removeAll(ours);
            return "\n  only in " + one.name + ":\n    " + String.join("\n    ", missing) + "\n  only in " + other.name
                    + ":\n    " + String.join("\n    ", added);
        }
    }
}
