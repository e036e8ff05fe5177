package dev.semel.trials.chaos;

import dev.semel.trials.chaos.checks.TrialCounts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** The chaos trial as a command: {@code semel-trials/chaos [seconds] [seeds…]}. Ten seeds of a minute by default. */
final class Chaos {
    private static final int SEEDS = 10;
    private static final int LEAST_TAKEOVERS = 20;
    private static final int LEAST_REFUSED = 100;

    private Chaos() {}

    public static void main(String[] args) throws Exception {
        Duration length = Duration.ofSeconds(args.length > 0 ? Long.parseLong(args[0]) : 60);
        List<Long> seeds = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            seeds.add(Long.parseLong(args[i]));
        }
        if (seeds.stream().distinct().count() < seeds.size()) {
            System.err.println("a seed is named twice; each has a folder of its own");
            System.exit(2);
        }
        if (seeds.isEmpty()) {
            LongStream.rangeClosed(1, SEEDS).forEach(seeds::add);
        }
        System.exit(play(length, seeds) ? 0 : 1);
    }

    /** A fault that never came and a count that stayed low would make every verdict a good one. */
    private static boolean showsSomething(TrialCounts all) {
        boolean enough = all.get("takeovers") >= LEAST_TAKEOVERS && all.get("zombie writes refused") >= LEAST_REFUSED;
        if (!enough || !all.missing().isEmpty()) {
            System.out.println("too little happened to show anything; never seen: " + all.missing());
            return false;
        }
        return true;
    }

    private static boolean play(Duration length, List<Long> seeds) throws Exception {
        ScratchFolder scratch = ScratchFolder.make("chaos");
        Path folder = scratch.folder();
        TrialCounts all = TrialCounts.none();
        boolean held = true;
        try (KillablePostgres postgres = new KillablePostgres(folder)) {
            for (long seed : seeds) {
                Path own = folder.resolve("seed-" + seed);
                ChaosTrial.Report report =
                        new ChaosTrial(ChaosPlan.of(seed, length, PlantedBug.NONE), postgres, own).run();
                System.out.println(
                        "seed " + seed + ": " + (report.violations().isEmpty() ? "every promise held" : "BROKEN")
                                + "; all runs ended " + report.healMillis() + " ms after the last fault");
                System.out.println(report.figures());
                if (!report.violations().isEmpty()) {
                    held = false;
                    System.out.println(report.broken());
                    System.out.println("seed " + seed + ": again with  " + report.again() + "   (files: " + own + ")");
                }
                all.add(report.figures());
            }
        }
        System.out.println("all " + seeds.size() + " seeds:\n" + all);
        if (seeds.size() >= SEEDS && !showsSomething(all)) {
            return false;
        }
        System.out.println("invariants 1, 2, 11-16, 19, 20, 23, 25, 28 " + (held ? "hold" : "do NOT hold")
                + "; 26 has a trial of its own");
        if (held) {
            scratch.delete();
        }
        return held;
    }
}
