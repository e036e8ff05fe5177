package dev.semel.store;

import dev.semel.store.Interleaving.InterleavingResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All interleavings of two effects. What both callers were notified and what rows are left must be what some order of the
 * whole transactions gives, the rows must fit together, and the database must have refused nothing: no circle of locks.
 *
 * <p>Interleavings that differ only in the order of two statements that cannot feel each other ({@link StatementFootprint}) are
 * one interleaving: of those the first is played (sleep sets). Without that the long ones would be millions.
 */
final class InterleavingExplorer {
    private final InterleavingFixture fixture;
    private final Interleaving interleaving;
    private final List<InterleavedClient.ClientAction> actions;
    private final ExplorationLimits bounds;
    private final List<ChoicePoint> path = new ArrayList<>();
    private final Map<String, InterleavingResult> serial = new HashMap<>();
    private final Set<String> checked = new HashSet<>();
    private final List<String> findings = new ArrayList<>();
    private int played;
    private int waits;

    /**
     * @param reduced only one of those interleavings that cannot be notified apart
     * @param most it ends after so many
     */
    record ExplorationLimits(boolean reduced, int most) {
        static final ExplorationLimits WHOLE = new ExplorationLimits(true, Integer.MAX_VALUE);
    }

    InterleavingExplorer(
            InterleavingFixture fixture,
            List<InterleavedClient> sides,
            List<InterleavedClient.ClientAction> actions,
            ExplorationLimits bounds) {
        this.fixture = fixture;
        this.interleaving = new Interleaving(fixture, sides);
        this.actions = actions;
        this.bounds = bounds;
    }

    /** A moment at which somebody must be chosen. */
    private static final class ChoicePoint {
        final List<Integer> ready;
        final Map<Integer, StatementFootprint> next = new HashMap<>();
        final Set<Integer> asleep;
        final Set<Integer> tried = new HashSet<>();
        int chosen;

        ChoicePoint(List<Integer> ready, List<InterleavedClient> sides, Set<Integer> asleep) {
            this.ready = ready;
            this.asleep = asleep;
            for (int side : ready) {
                StatementFootprint statement = Interleaving.next(sides, side);
                if (statement != null) {
                    next.put(side, statement);
                }
            }
        }

        @Nullable
        Integer untried() {
            return ready.stream()
                    .filter(side -> !asleep.contains(side) && !tried.contains(side))
                    .findFirst()
                    .orElse(null);
        }

        /** Those who were tried or asleep here stay asleep until a statement is done that they can feel. */
        Set<Integer> asleepAfter() {
            StatementFootprint done = java.util.Objects.requireNonNull(next.get(chosen));
            return Stream.concat(asleep.stream(), tried.stream())
                    .filter(side -> side != chosen)
                    .filter(side -> {
                        StatementFootprint waiting = next.get(side);
                        return waiting != null && !done.meets(waiting);
                    })
                    .collect(Collectors.toSet());
        }
    }

    /**
     * @param orders how many results the orders of whole transactions have
     * @param interleavings how many were played besides those
     * @param waits in how many of them somebody waited for a lock
     */
    record ExplorationReport(int orders, int interleavings, int waits, List<String> findings) {}

    ExplorationReport explore() {
        walk(true, this::remember);
        if (findings.isEmpty()) {
            walk(false, this::judge);
        }
        return new ExplorationReport(serial.size(), played, waits, List.copyOf(findings));
    }

    @FunctionalInterface
    private interface ResultCheck {
        void look(InterleavingResult one);
    }

    /** Depth first, each time from the beginning: a database cannot take a step back. */
    private void walk(boolean whole, ResultCheck judge) {
        do {
            int[] depth = {0};
            InterleavingResult one = interleaving.play(actions, (ready, sides) -> choose(ready, sides, whole, depth));
            judge.look(one);
        } while (findings.isEmpty() && played < bounds.most() && nextPath());
        path.clear();
    }

    private int choose(List<Integer> ready, List<InterleavedClient> sides, boolean whole, int[] depth) {
        int at = depth[0]++;
        if (at < path.size()) {
            return path.get(at).chosen;
        }
        List<Integer> may = whole ? wholeTransactions(ready, sides) : ready;
        boolean pruned = depth[0] > path.size() + 1;
        if (pruned) {
            return may.getFirst();
        }
        Set<Integer> asleep = !bounds.reduced() || whole || path.isEmpty()
                ? Set.of()
                : path.getLast().asleepAfter();
        ChoicePoint frame = new ChoicePoint(may, sides, asleep);
        Integer first = frame.untried();
        if (first == null) {
            return may.getFirst(); // played before in another order; goes on to its end without branches
        }
        frame.chosen = first;
        path.add(frame);
        return first;
    }

    private static List<Integer> wholeTransactions(List<Integer> ready, List<InterleavedClient> sides) {
        List<Integer> inside = ready.stream()
                .filter(side -> sides.get(side).turnstile.inTransaction())
                .toList();
        return inside.isEmpty() ? ready : inside;
    }

    private boolean nextPath() {
        while (!path.isEmpty()) {
            ChoicePoint last = path.getLast();
            last.tried.add(last.chosen);
            Integer next = last.untried();
            if (next != null) {
                last.chosen = next;
                return true;
            }
            path.removeLast();
        }
        return false;
    }

    private void remember(InterleavingResult one) {
        serial.putIfAbsent(result(one), one);
        refused(one);
        check(one);
    }

    private void judge(InterleavingResult one) {
        played++;
        waits += one.steps().stream().anyMatch(Interleaving.Step::waited) ? 1 : 0;
        refused(one);
        check(one);
        if (!serial.containsKey(result(one))) {
            findings.add("a result that no order of the transactions gives:\n" + one.story() + "\n  reported:\n"
                    + one.reported() + "\n" + differences(one));
        }
    }

    private static String result(InterleavingResult one) {
        return one.reported() + "\n" + one.rows();
    }

    private void refused(InterleavingResult one) {
        if (!one.errors().isEmpty()) {
            findings.add("the database refused " + one.errors() + " in\n" + one.story());
        }
    }

    private void check(InterleavingResult one) {
        if (checked.add(one.rows())) {
            try {
                fixture.check();
            } catch (AssertionError e) {
                findings.add("rows that do not fit together: " + e.getMessage() + "\n" + one.story());
            }
        }
    }

    private String differences(InterleavingResult one) {
        StringBuilder text = new StringBuilder();
        Set<String> rows = Set.copyOf(one.rows().lines().toList());
        for (InterleavingResult order : serial.values()) {
            Set<String> others = Set.copyOf(order.rows().lines().toList());
            text.append("  beside an order that reported:\n")
                    .append(order.reported())
                    .append('\n');
            rows.stream()
                    .filter(row -> !others.contains(row))
                    .forEach(row -> text.append("    + ").append(row).append('\n'));
            others.stream()
                    .filter(row -> !rows.contains(row))
                    .forEach(row -> text.append("    - ").append(row).append('\n'));
        }
        return text.toString();
    }
}
