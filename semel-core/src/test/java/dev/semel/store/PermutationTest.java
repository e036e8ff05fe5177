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
            new Permutations.Pair(NamedTransaction.ADMIT_FRESH, NamedTransaction.ADMIT_FRESH),
            new Permutations.Pair(NamedTransaction.ADMIT_FRESH, NamedTransaction.PUBLISH),
            new Permutations.Pair(NamedTransaction.ADMIT_FRESH, NamedTransaction.TAKE_OVER),
            new Permutations.Pair(NamedTransaction.ADMIT_EXPIRED, NamedTransaction.ADMIT_TWO_NAMES),
            new Permutations.Pair(NamedTransaction.ADMIT_EXPIRED, NamedTransaction.SWEEP),
            new Permutations.Pair(NamedTransaction.KEEP_EVENTS, NamedTransaction.KEEP_EVENTS),
            new Permutations.Pair(NamedTransaction.KEEP_EVENTS, NamedTransaction.SWEEP_EVENTS),
            new Permutations.Pair(NamedTransaction.ADMIT_GATED, NamedTransaction.END_AND_LEAVE),
            new Permutations.Pair(NamedTransaction.RESERVE, NamedTransaction.RESERVE_BY_ANOTHER),
            new Permutations.Pair(NamedTransaction.SETTLE, NamedTransaction.TAKE_OVER),
            new Permutations.Pair(NamedTransaction.REST, NamedTransaction.SIGNAL_DRIVEN),
            new Permutations.Pair(NamedTransaction.END, NamedTransaction.CANCEL),
            new Permutations.Pair(NamedTransaction.TX, NamedTransaction.TAKE_OVER),
            new Permutations.Pair(NamedTransaction.CLAIM, NamedTransaction.CLAIM),
            new Permutations.Pair(NamedTransaction.CLAIM, NamedTransaction.DECIDE),
            new Permutations.Pair(NamedTransaction.RULE_APPROVAL, NamedTransaction.RULE_APPROVAL),
            new Permutations.Pair(NamedTransaction.RULE_APPROVAL, NamedTransaction.LAPSE),
            new Permutations.Pair(NamedTransaction.RULE_APPROVAL, NamedTransaction.TELL),
            new Permutations.Pair(NamedTransaction.RULE_APPROVAL, NamedTransaction.CANCEL),
            new Permutations.Pair(NamedTransaction.RULE_APPROVAL, NamedTransaction.STOP_APPROVAL),
            new Permutations.Pair(NamedTransaction.RULE_APPROVAL, NamedTransaction.END),
            new Permutations.Pair(NamedTransaction.RULE_DOUBT, NamedTransaction.DECIDE),
            new Permutations.Pair(NamedTransaction.RULE_DOUBT, NamedTransaction.CLAIM),
            new Permutations.Pair(NamedTransaction.PUBLISH, NamedTransaction.PUBLISH),
            new Permutations.Pair(NamedTransaction.PUT_NEW, NamedTransaction.PUT_NEW),
            new Permutations.Pair(NamedTransaction.PUT_NEXT, NamedTransaction.PUT_NEXT),
            new Permutations.Pair(NamedTransaction.PUT_WHATEVER_THERE_IS, NamedTransaction.REMOVE_SETTING),
            new Permutations.Pair(NamedTransaction.POST_TO_NOBODY_YET, NamedTransaction.LISTEN),
            new Permutations.Pair(NamedTransaction.POST_TO_WHO_LISTENS, NamedTransaction.HUSH),
            new Permutations.Pair(NamedTransaction.POST_TO_WHO_LISTENS, NamedTransaction.REST),
            new Permutations.Pair(NamedTransaction.POST_TO_WHO_LISTENS, NamedTransaction.POST_TO_WHO_LISTENS),
            new Permutations.Pair(
                    NamedTransaction.LISTEN_FOR_A_STORED_SIGNAL, NamedTransaction.LISTEN_FOR_IT_BY_ANOTHER),
            new Permutations.Pair(NamedTransaction.RESUME_FAILED, NamedTransaction.RESUME_FAILED),
            new Permutations.Pair(NamedTransaction.RESUME_FAILED, NamedTransaction.ADMIT_AFTER_FAILURE),
            new Permutations.Pair(NamedTransaction.RESUME_FAILED, NamedTransaction.ADMIT_REPLAY),
            new Permutations.Pair(NamedTransaction.RENEW, NamedTransaction.TAKE_OVER));

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
    void every_interleaving_of_two_transactions_equals_some_serial_order() {
        long seed = Long.getLong("seed", System.nanoTime() >>> 12);
        System.out.println("permutations: replay with -Dseed=" + seed);
        List<Permutations.Pair> pairs = new ArrayList<>(Permutations.allPairs());
        Collections.shuffle(pairs, new Random(seed));
        List<String> findings = new ArrayList<>();
        ALWAYS.forEach(pair -> findings.addAll(permutations
                .explore(pair, InterleavingExplorer.ExplorationLimits.WHOLE)
                .findings()));
        pairs.subList(0, DRAWN)
                .forEach(pair -> findings.addAll(permutations
                        .explore(pair, new InterleavingExplorer.ExplorationLimits(true, MOST))
                        .findings()));
        assertEquals(List.of(), findings);
    }

    /** The short way and the long way must not differ in what they find: here all of them are played. */
    @Test
    void skipped_interleavings_give_no_other_result() {
        var pair = new Permutations.Pair(NamedTransaction.ADMIT_FRESH, NamedTransaction.ADMIT_FRESH);
        InterleavingExplorer.ExplorationReport all =
                permutations.explore(pair, new InterleavingExplorer.ExplorationLimits(false, Integer.MAX_VALUE));
        assertEquals(List.of(), all.findings());
        assertTrue(
                all.interleavings()
                        > permutations
                                .explore(pair, InterleavingExplorer.ExplorationLimits.WHOLE)
                                .interleavings(),
                "nothing was left out before");
    }

    @Test
    void a_read_before_a_write_is_detected() {
        InterleavedClient.ClientAction counts = (side, _) -> side.tx(
                InterleavingFixture.OTHER,
                new StoreWrite.UserTransaction(
                        new StoreWrite.RunExecution(permutations.neighbour(), 1), side.number, connection -> {
                            int found;
                            try (var statement = connection.createStatement();
                                    var row = statement.executeQuery("SELECT count(*) FROM mine")) {
                                row.next();
                                found = row.getInt(1);
                            }
                            UserTransactionRules.run(connection, "INSERT INTO mine VALUES (" + found + ")");
                            return "[" + side.number + "]";
                        }));
        List<String> findings = permutations.explore(List.of(counts, counts)).findings();
        assertTrue(findings.getFirst().startsWith("a result that no order"), findings::toString);
    }

    @Test
    void locks_in_two_orders_are_detected() {
        List<String> findings = permutations
                .explore(List.of(updates("held", "neighbour"), updates("neighbour", "held")))
                .findings();
        assertTrue(findings.getFirst().contains("40P01"), findings::toString);
    }

    private InterleavedClient.ClientAction updates(String... keys) {
        return (side, _) -> side.tx(
                InterleavingFixture.OTHER,
                new StoreWrite.UserTransaction(
                        new StoreWrite.RunExecution(permutations.neighbour(), 1), side.number, connection -> {
                            for (String key : keys) {
                                UserTransactionRules.run(
                                        connection, "UPDATE semel_key SET flags = flags WHERE key = '" + key + "'");
                            }
                            return "[" + side.number + "]";
                        }));
    }
}
