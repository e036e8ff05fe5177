package dev.semel.store;

import dev.semel.run.RunId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Every pair of named transactions, every interleaving of their statements: {@code semel-trials/permutations}. */
public final class Permutations implements AutoCloseable {
    private final InterleavingFixture fixture = new InterleavingFixture();
    private final List<InterleavedClient> sides =
            List.of(new InterleavedClient(0, fixture.stores.url()), new InterleavedClient(1, fixture.stores.url()));
    private int pairs;
    private long interleavings;
    private long waits;
    private final List<String> findings = new ArrayList<>();

    /** Two names, for people and for choosing. */
    record Pair(NamedTransaction one, NamedTransaction two) {
        String words() {
            return one.words() + " × " + two.words();
        }
    }

    static List<Pair> allPairs() {
        List<Pair> pairs = new ArrayList<>();
        for (NamedTransaction one : NamedTransaction.values()) {
            for (NamedTransaction two : NamedTransaction.values()) {
                if (one.ordinal() <= two.ordinal()) {
                    pairs.add(new Pair(one, two));
                }
            }
        }
        return pairs;
    }

    InterleavingExplorer.ExplorationReport explore(Pair pair, InterleavingExplorer.ExplorationLimits bounds) {
        fixture.tidy();
        List<InterleavedClient.ClientAction> actions = List.of(pair.one().action, pair.two().action);
        InterleavingExplorer.ExplorationReport report =
                new InterleavingExplorer(fixture, sides, actions, bounds).explore();
        pairs++;
        interleavings += report.interleavings();
        waits += report.waits();
        report.findings().forEach(finding -> findings.add(pair.words() + ": " + finding));
        return report;
    }

    /** Effects of a test's own; they are not counted. */
    InterleavingExplorer.ExplorationReport explore(List<InterleavedClient.ClientAction> actions) {
        return new InterleavingExplorer(fixture, sides, actions, InterleavingExplorer.ExplorationLimits.WHOLE)
                .explore();
    }

    /** A run that the other worker drives. */
    RunId neighbour() {
        return fixture.neighbour;
    }

    List<String> findings() {
        return List.copyOf(findings);
    }

    String summary() {
        return pairs + " pairs, " + interleavings + " interleavings, in " + waits
                + " of them somebody waited for a lock; " + findings.size() + " findings";
    }

    @Override
    public void close() {
        sides.forEach(InterleavedClient::close);
        fixture.close();
    }

    /** Of two whole batches there are millions: of a pair that has more than so many, those are all. */
    private static final int MOST = Integer.getInteger("most", 5_000);

    /** @param args words that a pair must have, such as {@code end} or {@code "admit fresh × publish"} */
    public static void main(String[] args) {
        String words = String.join(" ", args);
        Predicate<Pair> chosen = pair -> pair.words().contains(words);
        List<Pair> pairs = allPairs();
        boolean whole;
        try (Permutations permutations = new Permutations()) {
            long start = System.nanoTime();
            for (Pair pair : pairs.subList(Integer.getInteger("behind", 0), pairs.size())) {
                if (chosen.test(pair)) {
                    InterleavingExplorer.ExplorationReport report =
                            permutations.explore(pair, new InterleavingExplorer.ExplorationLimits(true, MOST));
                    System.out.println(pair.words() + ": " + report.orders() + " results of whole transactions, "
                            + report.interleavings() + " interleavings"
                            + (report.interleavings() < MOST ? "" : " (not all)")
                            + ", " + report.waits() + " with a wait"
                            + (report.findings().isEmpty() ? "" : "  FAILED"));
                    report.findings().forEach(System.out::println);
                }
            }
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
            System.out.println(permutations.summary() + "; " + seconds + " s");
            whole = permutations.findings().isEmpty();
        }
        System.exit(whole ? 0 : 1);
    }
}
