package dev.semel.trials.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Plants one bug after another and looks whether the trial sees it: {@code semel-trials/planted [bug,bug…|all] [seed]}. */
final class Planted {
    private static final Duration LENGTH = Duration.ofSeconds(12);
    private static final int TRIES = 4;

    private Planted() {}

    public static void main(String[] args) throws Exception {
        List<PlantedBug> bugs = new ArrayList<>(List.of(PlantedBug.values()));
        bugs.remove(PlantedBug.NONE);
        if (args.length > 0 && !args[0].equals("all")) {
            bugs.retainAll(
                    Stream.of(args[0].split(",")).map(PlantedBug::valueOf).toList());
        }
        long seed = args.length > 1 ? Long.parseLong(args[1]) : 1;
        List<PlantedBug> missed = new ArrayList<>();
        ScratchFolder scratch = ScratchFolder.make("planted");
        Path folder = scratch.folder();
        try (KillablePostgres postgres = new KillablePostgres(folder)) {
            for (PlantedBug bug : bugs) {
                if (!isCaught(bug, seed, postgres, folder)) {
                    missed.add(bug);
                }
            }
        }
        System.out.println(bugs.size() - missed.size() + " of " + bugs.size() + " planted bugs were caught"
                + (missed.isEmpty() ? "" : "; NOT caught: " + missed));
        if (missed.isEmpty()) {
            scratch.delete();
        }
        System.exit(missed.isEmpty() ? 0 : 1);
    }

    /** With further seeds where one did not meet it: chance decides what a trial of a few seconds comes across. */
    static boolean isCaught(PlantedBug bug, long seed, KillablePostgres postgres, Path folder) throws Exception {
        for (long tried = seed; tried < seed + TRIES; tried++) {
            Path own = folder.resolve(bug + "-" + tried);
            ChaosTrial.Report report = new ChaosTrial(ChaosPlan.of(tried, LENGTH, bug), postgres, own).run();
            String what = report.caught() ? "caught" : report.planted() ? "not seen" : "not met";
            System.out.println(bug + " (" + bug.says() + "), seed " + tried + ": " + what);
            System.out.println(report.broken());
            if (report.caught()) {
                return true;
            }
            System.out.println("  again with  " + report.again() + "   (files: " + own + ")");
        }
        return false;
    }
}
