package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A slice of {@link Permutations}: the pairs that hurt most, and some others drawn by a seed that is printed. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
final class PermutationTest {
    private static final int DRAWN = 5;
    private static final int MOST = 60;
    private static final List<Permutations.Pair> ALWAYS = List.of(
            new Permutations.Pair(Named.ADMIT_FRESH, Named.ADMIT_FRESH),
            new Permutations.Pair(Named.ADMIT_FRESH, Named.PUBLISH),
            new Permutations.Pair(Named.ADMIT_FRESH, Named.TAKE_OVER),
            new Permutations.Pair(Named.ADMIT_EXPIRED, Named.ADMIT_TWO_NAMES),
            new Permutations.Pair(Named.ADMIT_EXPIRED, Named.SWEEP),
            new Permutations.Pair(Named.KEEP_EVENTS, Named.KEEP_EVENTS),
            new Permutations.Pair(Named.KEEP_EVENTS, Named.SWEEP_EVENTS),
            new Permutations.Pair(Named.ADMIT_GATED, Named.END_AND_LEAVE),
            new Permutations.Pair(Named.RESERVE, Named.RESERVE_BY_ANOTHER),
            new Permutations.Pair(Named.SETTLE, Named.TAKE_OVER),
            new Permutations.Pair(Named.REST, Named.SIGNAL_DRIVEN),
            new Permutations.Pair(Named.END, Named.CANCEL),
            new Permutations.Pair(Named.TX, Named.TAKE_OVER),
            new Permutations.Pair(Named.CLAIM, Named.CLAIM),
            new Permutations.Pair(Named.CLAIM, Named.DECIDE),
            new Permutations.Pair(Named.RULE_APPROVAL, Named.RULE_APPROVAL),
            new Permutations.Pair(Named.RULE_APPROVAL, Named.LAPSE),
            new Permutations.Pair(Named.RULE_APPROVAL, Named.TELL),
            new Permutations.Pair(Named.RULE_APPROVAL, Named.CANCEL),
            new Permutations.Pair(Named.RULE_APPROVAL, Named.STOP_APPROVAL),
            new Permutations.Pair(Named.RULE_APPROVAL, Named.END),
            new Permutations.Pair(Named.RULE_DOUBT, Named.DECIDE),
            new Permutations.Pair(Named.RULE_DOUBT, Named.CLAIM),
            new Permutations.Pair(Named.PUBLISH, Named.PUBLISH),
            new Permutations.Pair(Named.PUT_NEW, Named.PUT_NEW),
            new Permutations.Pair(Named.PUT_NEXT, Named.PUT_NEXT),
            new Permutations.Pair(Named.PUT_WHATEVER_THERE_IS, Named.REMOVE_SETTING),
            new Permutations.Pair(Named.POST_TO_NOBODY_YET, Named.LISTEN),
            new Permutations.Pair(Named.POST_TO_WHO_LISTENS, Named.HUSH),
            new Permutations.Pair(Named.POST_TO_WHO_LISTENS, Named.REST),
            new Permutations.Pair(Named.POST_TO_WHO_LISTENS, Named.POST_TO_WHO_LISTENS),
            new Permutations.Pair(Named.LISTEN_FOR_A_KEPT_LETTER, Named.LISTEN_FOR_IT_BY_ANOTHER),
            new Permutations.Pair(Named.RESUME_FAILED, Named.RESUME_FAILED),
            new Permutations.Pair(Named.RESUME_FAILED, Named.ADMIT_AFTER_FAILURE),
            new Permutations.Pair(Named.RESUME_FAILED, Named.ADMIT_REPLAY),
            new Permutations.Pair(Named.RENEW, Named.TAKE_OVER));

    private Permutations permutations;

    @BeforeAll
    void open() {
        permutations = new Permutations();
    }

    @AfterAll
    void close() {
        System.out.println("permutations: " + permutations.summary());
        permutations.close();
    }

    @Test
    void every_interleaving_of_two_transactions_is_some_order_of_them() {
        long seed = Long.getLong("seed", System.nanoTime() >>> 12);
        System.out.println("permutations: replay with -Dseed=" + seed);
        List<Permutations.Pair> pairs = new ArrayList<>(Permutations.allPairs());
        Collections.shuffle(pairs, new Random(seed));
        List<String> findings = new ArrayList<>();
        ALWAYS.forEach(pair -> findings.addAll(
                permutations.explore(pair, Exploration.Bounds.WHOLE).findings()));
        pairs.subList(0, DRAWN)
                .forEach(pair -> findings.addAll(permutations
                        .explore(pair, new Exploration.Bounds(true, MOST))
                        .findings()));
        assertEquals(List.of(), findings);
    }

    /** The short way and the long way must not differ in what they find: here all of them are played. */
    @Test
    void interleavings_that_were_left_out_give_no_other_result() {
        var pair = new Permutations.Pair(Named.ADMIT_FRESH, Named.ADMIT_FRESH);
        Exploration.Report all = permutations.explore(pair, new Exploration.Bounds(false, Integer.MAX_VALUE));
        assertEquals(List.of(), all.findings());
        assertTrue(
                all.interleavings()
                        > permutations.explore(pair, Exploration.Bounds.WHOLE).interleavings(),
                "nothing was left out before");
    }

    @Test
    void a_look_before_a_write_is_found() {
        Side.Deed counts = (side, _) -> side.tx(
                World.OTHER,
                new StoreWrite.UserTransaction(
                        new StoreWrite.RunExecution(permutations.neighbour(), 1), side.number, connection -> {
                            int found;
                            try (var statement = connection.createStatement();
                                    var row = statement.executeQuery("SELECT count(*) FROM mine")) {
                                row.next();
                                found = row.getInt(1);
                            }
                            TxRules.run(connection, "INSERT INTO mine VALUES (" + found + ")");
                            return "[" + side.number + "]";
                        }));
        List<String> findings = permutations.explore(List.of(counts, counts)).findings();
        assertTrue(findings.getFirst().startsWith("a result that no order"), findings::toString);
    }

    @Test
    void locks_in_two_orders_are_found() {
        List<String> findings = permutations
                .explore(List.of(updates("held", "neighbour"), updates("neighbour", "held")))
                .findings();
        assertTrue(findings.getFirst().contains("40P01"), findings::toString);
    }

    private Side.Deed updates(String... keys) {
        return (side, _) -> side.tx(
                World.OTHER,
                new StoreWrite.UserTransaction(
                        new StoreWrite.RunExecution(permutations.neighbour(), 1), side.number, connection -> {
                            for (String key : keys) {
                                TxRules.run(connection, "UPDATE semel_key SET flags = flags WHERE key = '" + key + "'");
                            }
                            return "[" + side.number + "]";
                        }));
    }
}
