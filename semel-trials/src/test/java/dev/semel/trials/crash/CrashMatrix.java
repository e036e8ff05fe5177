package dev.semel.trials.crash;

import dev.semel.trials.crash.ProcessLife.HaltPoint;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which cells the crash matrix has. Every label is visited under every effect that can come there. */
final class CrashMatrix {
    private static final Set<CrashAction> SENDING = EnumSet.of(
            CrashAction.REPEATABLE,
            CrashAction.PROVIDER_KEY,
            CrashAction.ALREADY_DONE,
            CrashAction.LOOKUP,
            CrashAction.AT_MOST_ONCE,
            CrashAction.ASK,
            CrashAction.CALL);

    /** Who comes to a label; whoever is not named does not, for the reason that stands there. */
    record LabelReach(Set<CrashAction> effects, String others) {}

    static final Map<String, LabelReach> REACH = new TreeMap<>(Map.ofEntries(
            Map.entry(
                    "batch-committed",
                    new LabelReach(EnumSet.allOf(CrashAction.class), "everything is committed in batches")),
            Map.entry(
                    "step-done",
                    new LabelReach(EnumSet.allOf(CrashAction.class), "every flow has a step before its effect")),
            Map.entry("run-ending", new LabelReach(EnumSet.allOf(CrashAction.class), "every run ends")),
            Map.entry("replay-answered", new LabelReach(EnumSet.allOf(CrashAction.class), "every life asks again")),
            Map.entry("effect-reserved", new LabelReach(SENDING, "it is no effect: nothing is reserved")),
            Map.entry("effect-sent", new LabelReach(SENDING, "it is no effect: the ledger does not know it")),
            Map.entry("lookup-empty", new LabelReach(EnumSet.of(CrashAction.LOOKUP), "its provider cannot be asked")),
            Map.entry(
                    "effect-doubted",
                    new LabelReach(
                            EnumSet.of(CrashAction.ASK),
                            "it is sent again, looked up, or ends as indeterminate, and nobody is asked; what is called"
                                    + " here has a provider that answers")),
            Map.entry("tx-done", new LabelReach(EnumSet.of(CrashAction.TX), "it inserts no rows of the user")),
            Map.entry("tx-committed", new LabelReach(EnumSet.of(CrashAction.TX), "it inserts no rows of the user")),
            Map.entry("child-started", new LabelReach(EnumSet.of(CrashAction.CALL), "it calls no other workflow")),
            Map.entry("signal-sent", new LabelReach(EnumSet.of(CrashAction.SIGNAL), "it sends no signal"))));

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

    private final List<MatrixCell> cells = new ArrayList<>();
    private final MatrixCell.Kind store;

    private CrashMatrix(MatrixCell.Kind store) {
        this.store = store;
    }

    static List<MatrixCell> of(MatrixCell.Kind store) {
        CrashMatrix matrix = new CrashMatrix(store);
        for (CrashAction action : CrashAction.values()) {
            matrix.common(action);
        }
        matrix.sends();
        matrix.badMannersAlone();
        matrix.badManners();
        matrix.twice();
        return List.copyOf(matrix.cells);
    }

    private void add(CrashAction action, String manners, HaltPoint... halts) {
        cells.add(new MatrixCell(store, action, manners, halts));
    }

    private static HaltPoint at(String label) {
        return new HaltPoint(label, 1);
    }

    private static HaltPoint at(String label, int passing) {
        return new HaltPoint(label, passing);
    }

    private void common(CrashAction action) {
        add(action, "answers"); // nobody is halted: what the other cells are compared with
        for (int commit = 1; commit <= action.commits(); commit++) {
            add(action, "answers", at("batch-committed", commit));
        }
        add(action, "answers", at("step-done", 1));
        add(action, "answers", at("step-done", 2));
        add(action, "answers", at("run-ending"));
        add(action, "answers", at("replay-answered"));
    }

    private void sends() {
        for (CrashAction action : SENDING) {
            add(action, "answers", at("effect-reserved"));
            add(action, "answers", at("effect-sent"));
        }
        add(CrashAction.STEP, "answers", at("step-done", 3));
        add(CrashAction.TX, "answers", at("tx-done"));
        add(CrashAction.TX, "answers", at("tx-committed"));
        add(CrashAction.CALL, "answers", at("child-started"));
        add(CrashAction.CALL, "answers", at("run-ending", 2));
        add(CrashAction.SIGNAL, "answers", at("signal-sent"));
        add(CrashAction.SIGNAL, "answers", at("run-ending", 2));
    }

    /** The receiver misbehaves, and the process lives on. */
    private void badMannersAlone() {
        for (CrashAction action : SENDING) {
            for (String manners : List.of("resets-1", "hangs-1", "fails-1", "drops-1")) {
                if (action != CrashAction.CALL) {
                    add(action, manners);
                }
            }
        }
    }

    /** The receiver misbehaves first, and then the process ends. */
    private void badManners() {
        for (CrashAction action :
                EnumSet.of(CrashAction.REPEATABLE, CrashAction.PROVIDER_KEY, CrashAction.ALREADY_DONE)) {
            for (String manners : List.of("resets-1", "hangs-1", "fails-1", "drops-1")) {
                add(action, manners, at("effect-reserved", 2));
            }
        }
        add(CrashAction.PROVIDER_KEY, "resets-1", at("effect-sent"));
        add(CrashAction.LOOKUP, "drops-1", at("lookup-empty"));
        add(CrashAction.LOOKUP, "drops-1", at("effect-reserved", 2));
        add(CrashAction.LOOKUP, "drops-1", at("effect-sent"));
        for (String manners : List.of("resets-1", "hangs-1", "fails-1")) {
            add(CrashAction.LOOKUP, manners, at("run-ending"));
            add(CrashAction.AT_MOST_ONCE, manners, at("run-ending"));
            add(CrashAction.ASK, manners, at("effect-doubted"));
        }
        add(CrashAction.AT_MOST_ONCE, "drops-1", at("run-ending"));
        add(CrashAction.ASK, "drops-1", at("effect-doubted"));
        add(CrashAction.LOOKUP, "drops-2", at("lookup-empty", 2));
        // The attempts end and the outcome is unknown: the run stops, and is resumed.
        add(CrashAction.PROVIDER_KEY, "drops-3", at("run-ending"));
        add(CrashAction.PROVIDER_KEY, "resets-3", at("run-ending"));
        add(CrashAction.ALREADY_DONE, "drops-3", at("run-ending"));
    }

    /** The process that takes over ends as well. */
    private void twice() {
        add(CrashAction.STEP, "answers", at("step-done", 2), at("step-done", 1));
        for (CrashAction action : EnumSet.of(
                CrashAction.REPEATABLE, CrashAction.PROVIDER_KEY, CrashAction.ALREADY_DONE, CrashAction.CALL)) {
            add(action, "answers", at("effect-reserved"), at("effect-reserved"));
        }
        add(CrashAction.REPEATABLE, "answers", at("effect-sent"), at("effect-sent"));
        add(CrashAction.PROVIDER_KEY, "answers", at("effect-sent"), at("effect-sent"));
        add(CrashAction.LOOKUP, "answers", at("effect-reserved"), at("lookup-empty"));
        add(CrashAction.LOOKUP, "answers", at("effect-reserved"), at("effect-sent"));
        add(CrashAction.LOOKUP, "answers", at("effect-sent"), at("run-ending"));
        add(CrashAction.AT_MOST_ONCE, "answers", at("effect-reserved"), at("run-ending"));
        add(CrashAction.AT_MOST_ONCE, "answers", at("effect-sent"), at("run-ending"));
        add(CrashAction.ASK, "answers", at("effect-reserved"), at("effect-doubted"));
        add(CrashAction.ASK, "answers", at("effect-sent"), at("effect-doubted"));
        add(CrashAction.TX, "answers", at("tx-done"), at("tx-done"));
        add(CrashAction.TX, "answers", at("tx-committed"), at("run-ending"));
        add(CrashAction.CALL, "answers", at("child-started"), at("child-started"));
        add(CrashAction.SIGNAL, "answers", at("signal-sent"), at("signal-sent"));
    }

    /** What is wrong with the table: a label of the code that a effect neither visits nor is excused from, or both. */
    static List<String> gaps(List<MatrixCell> cells, Set<String> labels) {
        List<String> gaps = new ArrayList<>();
        Set<String> known = new TreeSet<>(REACH.keySet());
        known.addAll(ELSEWHERE);
        if (!known.equals(labels)) {
            gaps.add("the code has the labels " + labels + " and the matrix " + known);
        }
        REACH.forEach((label, reach) -> {
            for (CrashAction action : CrashAction.values()) {
                boolean visited = cells.stream()
                        .anyMatch(cell -> cell.effect() == action
                                && cell.halts().stream()
                                        .anyMatch(halt -> halt.label().equals(label)));
                if (visited != reach.effects().contains(action)) {
                    gaps.add(action + (visited ? " visits " : " never visits ") + label);
                }
            }
        });
        return gaps;
    }

    /** A life came to a point that its effect is said never to come to. */
    static List<String> excuses(CrashAction action, Set<String> passed) {
        return passed.stream()
                .filter(label ->
                        !REACH.containsKey(label) || !REACH.get(label).effects().contains(action))
                .map(label -> action + " came to " + label + ", which it is said never to reach")
                .toList();
    }
}
