package dev.semel.trials.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The primary is killed under load while its replica lags, the replica is promoted, and the workers go on without
 * being started again: {@code semel-trials/failover [rounds]}. What was acknowledged is read from the clients, what was
 * done from the receiver's log, what is left from the promoted replica.
 */
final class Failover {
    private final int enough;
    private final List<FailoverClients> workers = new ArrayList<>();

    private Failover(int enough) {
        this.enough = enough;
    }

    /**
     * @param acknowledged triggers that were answered with a run before the primary died
     * @param lost those of them whose run is not there any more
     * @param wrong promises that were broken; losses are none where the replica was asynchronous
     */
    record Outcome(int acknowledged, int afterwards, int lost, int refused, String durability, List<String> wrong) {}

    static Outcome play(Path folder, boolean synchronous, int enough) {
        return new Failover(enough).round(folder, synchronous);
    }

    private Outcome round(Path folder, boolean synchronous) {
        try (Cluster cluster = Cluster.start(folder, synchronous);
                Receiver receiver = Receiver.start(folder)) {
            RealPostgres.execute(cluster.url(), FailoverWorker.TABLE);
            try {
                workers.add(FailoverClients.start(folder, "a", cluster.url(), receiver.url()));
                workers.add(FailoverClients.start(folder, "b", cluster.url(), receiver.url()));
                workers.forEach(FailoverClients::awaitReady);
                return underLoad(cluster, receiver, synchronous);
            } finally {
                workers.forEach(FailoverClients::close);
            }
        }
    }

    private Outcome underLoad(Cluster cluster, Receiver receiver, boolean synchronous) {
        workers.forEach(FailoverClients::begin);
        await(enough);
        cluster.stallReplication();
        if (!synchronous) {
            await(acknowledgedSoFar() + enough); // the replica knows nothing of these
        }
        cluster.awaitCommitsThatWait();
        Map<String, Set<String>> before = acknowledged();
        cluster.failOver();
        await(acknowledgedSoFar() + enough);
        workers.forEach(FailoverClients::stop);
        workers.forEach(FailoverClients::settle);
        Await.holds(
                "all runs complete",
                () -> StoredRuns.postgres(cluster.replicaUrl()).allCompleted());
        StoredRuns stored = StoredRuns.postgres(cluster.replicaUrl());
        Set<String> there = new TreeSet<>();
        stored.rows().forEach(row -> there.add(row.runId()));
        int lost = (int) before.values().stream()
                .filter(runs -> !there.containsAll(runs))
                .count();
        List<String> wrong = judge(stored, receiver, cluster, synchronous ? before : Map.of());
        return new Outcome(
                before.size(),
                acknowledgedSoFar() - before.size(),
                lost,
                workers.stream().mapToInt(FailoverClients::refused).sum(),
                workers.getFirst().durability(),
                wrong);
    }

    /** @param kept what was acknowledged before the failover and must be there */
    private List<String> judge(StoredRuns stored, Receiver receiver, Cluster cluster, Map<String, Set<String>> kept) {
        List<String> wrong = new ArrayList<>();
        Map<String, List<String>> byKey = new HashMap<>();
        stored.rows()
                .forEach(row -> byKey.computeIfAbsent(String.valueOf(row.key()), _ -> new ArrayList<>())
                        .add(row.runId()));
        Set<String> asked = new TreeSet<>();
        for (FailoverClients worker : workers) {
            wrong.addAll(worker.broken());
            asked.addAll(worker.asked());
            if (!worker.alive()) {
                wrong.add("a worker's process ended");
            }
        }
        kept.forEach((key, runs) -> {
            if (!List.copyOf(runs).equals(byKey.get(key))) {
                wrong.add(key + " was acknowledged with " + runs + ", and there is " + byKey.get(key));
            }
        });
        Map<String, List<Receiver.ReceivedRequest>> heard = receiver.byName();
        Map<String, Long> inserted = RealPostgres.counts(cluster.replicaUrl(), "failover_row", "name");
        for (String key : asked) {
            long rows = inserted.getOrDefault(key, 0L);
            List<Receiver.ReceivedRequest> lines = heard.getOrDefault(key, List.of());
            boolean spared = kept.isEmpty(); // runs that were lost and asked for again pay again
            if (byKey.getOrDefault(key, List.of()).size() != 1 || rows != 1) {
                wrong.add(key + " has the runs " + byKey.get(key) + " and " + rows + " rows of the user");
            }
            if (!spared && CrashChecks.accepted(lines) != 1) {
                wrong.add(key + " has " + CrashChecks.accepted(lines) + " accepted effects: " + lines);
            }
        }
        return wrong;
    }

    private Map<String, Set<String>> acknowledged() {
        Map<String, Set<String>> all = new HashMap<>();
        workers.forEach(worker -> all.putAll(worker.acknowledged()));
        return all;
    }

    private int acknowledgedSoFar() {
        return workers.stream().mapToInt(FailoverClients::acknowledgedSoFar).sum();
    }

    private void await(int count) {
        Await.holds(count + " triggers are acknowledged", () -> acknowledgedSoFar() >= count);
    }

    /** @param args how many rounds with a synchronous replica; one with an asynchronous one follows */
    public static void main(String[] args) throws IOException {
        int rounds = args.length == 0 ? 3 : Integer.parseInt(args[0]);
        boolean good = true;
        for (int round = 1; round <= rounds + 1; round++) {
            boolean synchronous = round <= rounds;
            Path folder = Files.createTempDirectory("failover");
            Outcome outcome = play(folder, synchronous, 300);
            System.out.println(describe(synchronous, outcome));
            outcome.wrong().stream().limit(20).forEach(System.out::println);
            good &= outcome.wrong().isEmpty() && (synchronous ? outcome.lost() == 0 : outcome.lost() > 0);
            delete(folder);
        }
        System.exit(good ? 0 : 1);
    }

    static String describe(boolean synchronous, Outcome outcome) {
        return "failover to " + (synchronous ? "a synchronous" : "an asynchronous") + " replica: "
                + outcome.acknowledged() + " triggers acknowledged before, " + outcome.lost() + " of them lost; "
                + outcome.afterwards() + " acknowledged afterwards, " + outcome.refused() + " refused on the way; "
                + outcome.wrong().size() + " broken promises. The worker had said: " + outcome.durability();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
