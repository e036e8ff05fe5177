package dev.semel.trials.crash;

import dev.semel.trials.crash.Life.Halt;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which cells the crash matrix has. Every label is visited under every deed that can come there. */
final class Matrix {
    private static final Set<Deed> SENDING = EnumSet.of(
            Deed.REPEATABLE, Deed.PROVIDER_KEY, Deed.ALREADY_DONE, Deed.LOOKUP, Deed.AT_MOST_ONCE, Deed.ASK, Deed.CALL);

    /** Who comes to a label; whoever is not named does not, for the reason that stands there. */
    record Reach(Set<Deed> deeds, String others) {}

    static final Map<String, Reach> REACH = new TreeMap<>(Map.ofEntries(
            Map.entry("batch-committed", new Reach(EnumSet.allOf(Deed.class), "everything is committed in batches")),
            Map.entry("step-done", new Reach(EnumSet.allOf(Deed.class), "every flow has a step before its deed")),
            Map.entry("run-ending", new Reach(EnumSet.allOf(Deed.class), "every run ends")),
            Map.entry("replay-answered", new Reach(EnumSet.allOf(Deed.class), "every life asks again")),
            Map.entry("effect-reserved", new Reach(SENDING, "it is no effect: nothing is reserved")),
            Map.entry("effect-sent", new Reach(SENDING, "it is no effect: the ledger does not know it")),
            Map.entry("lookup-empty", new Reach(EnumSet.of(Deed.LOOKUP), "its provider cannot be asked")),
            Map.entry(
                    "effect-doubted",
                    new Reach(
                            EnumSet.of(Deed.ASK, Deed.PROVIDER_KEY, Deed.ALREADY_DONE),
                            "it is sent again, looked up, or ends as indeterminate, and nobody is asked; what is called"
                                    + " here has a provider that answers")),
            Map.entry("tx-done", new Reach(EnumSet.of(Deed.TX), "it inserts no rows of the user")),
            Map.entry("tx-committed", new Reach(EnumSet.of(Deed.TX), "it inserts no rows of the user")),
            Map.entry("child-started", new Reach(EnumSet.of(Deed.CALL), "it calls no other workflow")),
            Map.entry("signal-sent", new Reach(EnumSet.of(Deed.SIGNAL), "it sends no signal"))));

    /**
     * Labels that no trigger comes to: {@link FirstTokenTest} visits that of the server, {@code AlertsTest} that of
     * alerts, {@code HookCrashTest} that of webhooks, {@code ReplaysTest} those of replays, and those of schedules are visited by their own tests in the core
     * and by {@link TicksTest}.
     */
    static final Set<String> ELSEWHERE = Set.of(
            "first-token",
            "tick-admitted",
            "backfill-admitted",
            "delivery-stored",
            "alert-sent",
            "review-notified",
            "plan-noted",
            "replay-admitted");

    private final List<Cell> cells = new ArrayList<>();
    private final Cell.Kind store;

    private Matrix(Cell.Kind store) {
        this.store = store;
    }

    static List<Cell> of(Cell.Kind store) {
        Matrix matrix = new Matrix(store);
        for (Deed deed : Deed.values()) {
            matrix.common(deed);
        }
        matrix.sends();
        matrix.badMannersAlone();
        matrix.badManners();
        matrix.twice();
        return List.copyOf(matrix.cells);
    }

    private void add(Deed deed, String manners, Halt... halts) {
        cells.add(new Cell(store, deed, manners, halts));
    }

    private static Halt at(String label) {
        return new Halt(label, 1);
    }

    private static Halt at(String label, int passing) {
        return new Halt(label, passing);
    }

    private void common(Deed deed) {
        add(deed, "answers"); // nobody is halted: what the other cells are compared with
        for (int commit = 1; commit <= deed.commits(); commit++) {
            add(deed, "answers", at("batch-committed", commit));
        }
        add(deed, "answers", at("step-done", 1));
        add(deed, "answers", at("step-done", 2));
        add(deed, "answers", at("run-ending"));
        add(deed, "answers", at("replay-answered"));
    }

    private void sends() {
        for (Deed deed : SENDING) {
            add(deed, "answers", at("effect-reserved"));
            add(deed, "answers", at("effect-sent"));
        }
        add(Deed.STEP, "answers", at("step-done", 3));
        add(Deed.TX, "answers", at("tx-done"));
        add(Deed.TX, "answers", at("tx-committed"));
        add(Deed.CALL, "answers", at("child-started"));
        add(Deed.CALL, "answers", at("run-ending", 2));
        add(Deed.SIGNAL, "answers", at("signal-sent"));
        add(Deed.SIGNAL, "answers", at("run-ending", 2));
    }

    /** The receiver misbehaves, and the process lives on. */
    private void badMannersAlone() {
        for (Deed deed : SENDING) {
            for (String manners : List.of("resets-1", "hangs-1", "fails-1", "drops-1")) {
                if (deed != Deed.CALL) {
                    add(deed, manners);
                }
            }
        }
    }

    /** The receiver misbehaves first, and then the process ends. */
    private void badManners() {
        for (Deed deed : EnumSet.of(Deed.REPEATABLE, Deed.PROVIDER_KEY, Deed.ALREADY_DONE)) {
            for (String manners : List.of("resets-1", "hangs-1", "fails-1", "drops-1")) {
                add(deed, manners, at("effect-reserved", 2));
            }
        }
        add(Deed.PROVIDER_KEY, "resets-1", at("effect-sent"));
        add(Deed.LOOKUP, "drops-1", at("lookup-empty"));
        add(Deed.LOOKUP, "drops-1", at("effect-reserved", 2));
        add(Deed.LOOKUP, "drops-1", at("effect-sent"));
        for (String manners : List.of("resets-1", "hangs-1", "fails-1")) {
            add(Deed.LOOKUP, manners, at("run-ending"));
            add(Deed.AT_MOST_ONCE, manners, at("run-ending"));
            add(Deed.ASK, manners, at("effect-doubted"));
        }
        add(Deed.AT_MOST_ONCE, "drops-1", at("run-ending"));
        add(Deed.ASK, "drops-1", at("effect-doubted"));
        add(Deed.LOOKUP, "drops-2", at("lookup-empty", 2));
        add(Deed.PROVIDER_KEY, "drops-3", at("effect-doubted"));
        add(Deed.PROVIDER_KEY, "resets-3", at("effect-doubted"));
        add(Deed.ALREADY_DONE, "drops-3", at("effect-doubted"));
    }

    /** The process that takes over ends as well. */
    private void twice() {
        add(Deed.STEP, "answers", at("step-done", 2), at("step-done", 1));
        for (Deed deed : EnumSet.of(Deed.REPEATABLE, Deed.PROVIDER_KEY, Deed.ALREADY_DONE, Deed.CALL)) {
            add(deed, "answers", at("effect-reserved"), at("effect-reserved"));
        }
        add(Deed.REPEATABLE, "answers", at("effect-sent"), at("effect-sent"));
        add(Deed.PROVIDER_KEY, "answers", at("effect-sent"), at("effect-sent"));
        add(Deed.LOOKUP, "answers", at("effect-reserved"), at("lookup-empty"));
        add(Deed.LOOKUP, "answers", at("effect-reserved"), at("effect-sent"));
        add(Deed.LOOKUP, "answers", at("effect-sent"), at("run-ending"));
        add(Deed.AT_MOST_ONCE, "answers", at("effect-reserved"), at("run-ending"));
        add(Deed.AT_MOST_ONCE, "answers", at("effect-sent"), at("run-ending"));
        add(Deed.ASK, "answers", at("effect-reserved"), at("effect-doubted"));
        add(Deed.ASK, "answers", at("effect-sent"), at("effect-doubted"));
        add(Deed.TX, "answers", at("tx-done"), at("tx-done"));
        add(Deed.TX, "answers", at("tx-committed"), at("run-ending"));
        add(Deed.CALL, "answers", at("child-started"), at("child-started"));
        add(Deed.SIGNAL, "answers", at("signal-sent"), at("signal-sent"));
    }

    /** What is wrong with the table: a label of the code that a deed neither visits nor is excused from, or both. */
    static List<String> gaps(List<Cell> cells, Set<String> labels) {
        List<String> gaps = new ArrayList<>();
        Set<String> known = new TreeSet<>(REACH.keySet());
        known.addAll(ELSEWHERE);
        if (!known.equals(labels)) {
            gaps.add("the code has the labels " + labels + " and the matrix " + known);
        }
        REACH.forEach((label, reach) -> {
            for (Deed deed : Deed.values()) {
                boolean visited = cells.stream()
                        .anyMatch(cell -> cell.deed() == deed
                                && cell.halts().stream()
                                        .anyMatch(halt -> halt.label().equals(label)));
                if (visited != reach.deeds().contains(deed)) {
                    gaps.add(deed + (visited ? " visits " : " never visits ") + label);
                }
            }
        });
        return gaps;
    }

    /** A life came to a point that its deed is said never to come to. */
    static List<String> excuses(Deed deed, Set<String> passed) {
        return passed.stream()
                .filter(label ->
                        !REACH.containsKey(label) || !REACH.get(label).deeds().contains(deed))
                .map(label -> deed + " came to " + label + ", which it is said never to reach")
                .toList();
    }
}
