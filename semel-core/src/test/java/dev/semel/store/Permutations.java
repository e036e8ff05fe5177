package dev.semel.store;

import dev.semel.run.RunId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** Every pair of named transactions, every interleaving of their statements: {@code semel-trials/permutations}. */
public final class Permutations implements AutoCloseable {
    private final World world = new World();
    private final List<Side> sides = List.of(new Side(0, world.place.url()), new Side(1, world.place.url()));
    private int pairs;
    private long interleavings;
    private long waits;
    private final List<String> findings = new ArrayList<>();

    /** Two names, for people and for choosing. */
    record Pair(Named one, Named two) {
        String words() {
            return one.words() + " × " + two.words();
        }
    }

    static List<Pair> allPairs() {
        List<Pair> pairs = new ArrayList<>();
        for (Named one : Named.values()) {
            for (Named two : Named.values()) {
                if (one.ordinal() <= two.ordinal()) {
                    pairs.add(new Pair(one, two));
                }
            }
        }
        return pairs;
    }

    Exploration.Report explore(Pair pair, Exploration.Bounds bounds) {
        world.tidy();
        List<Side.Deed> deeds = List.of(pair.one().deed, pair.two().deed);
        Exploration.Report report = new Exploration(world, sides, deeds, bounds).explore();
        pairs++;
        interleavings += report.interleavings();
        waits += report.waits();
        report.findings().forEach(finding -> findings.add(pair.words() + ": " + finding));
        return report;
    }

    /** Deeds of a test's own; they are not counted. */
    Exploration.Report explore(List<Side.Deed> deeds) {
        return new Exploration(world, sides, deeds, Exploration.Bounds.WHOLE).explore();
    }

    /** A run that the other worker drives. */
    RunId neighbour() {
        return world.neighbour;
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
        sides.forEach(Side::close);
        world.close();
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
                    Exploration.Report report = permutations.explore(pair, new Exploration.Bounds(true, MOST));
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
