package dev.semel.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Two sides, let through statement by statement. Who waits in the database for the other is passed over. */
final class Interleaving {
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(60);

    private final InterleavingFixture fixture;
    private final List<InterleavedClient> sides;

    Interleaving(InterleavingFixture fixture, List<InterleavedClient> sides) {
        this.fixture = fixture;
        this.sides = sides;
    }

    /** A statement that was let through, and whether it had to wait for the other side. */
    record Step(int side, StatementFootprint statement, boolean waited) {
        String line() {
            return (side == 0 ? "A  " : "  B ") + statement.line() + (waited ? "  (waits)" : "");
        }
    }

    /**
     * What came of it.
     *
     * @param errors what the database refused
     */
    record InterleavingResult(List<Step> steps, String reported, String rows, List<String> errors) {
        String story() {
            return steps.stream().map(Step::line).collect(Collectors.joining("\n    ", "    ", ""));
        }
    }

    /** Says which of those who stand before a statement goes on. */
    @FunctionalInterface
    interface Chooser {
        int choose(List<Integer> ready, List<InterleavedClient> sides);
    }

    InterleavingResult play(List<InterleavedClient.ClientAction> actions, Chooser chooser) {
        fixture.restore();
        for (InterleavedClient side : sides) {
            side.start(actions.get(side.number), fixture);
        }
        sides.forEach(this::settle);
        List<Step> steps = new ArrayList<>();
        long start = System.nanoTime();
        while (!sides.stream().allMatch(InterleavedClient::isDone)) {
            List<Integer> ready = ready();
            if (ready.isEmpty()) {
                sides.forEach(this::settle); // one waits for what the other has just let go, or both for each other
            } else {
                InterleavedClient side = sides.get(chooser.choose(ready, sides));
                StatementFootprint statement = awaited(side, start);
                side.turnstile.let();
                steps.add(new Step(side.number, statement, settle(side)));
                settle(other(side));
            }
            if (System.nanoTime() - start > LONGEST) {
                throw new AssertionError(
                        "nobody goes on after\n" + new InterleavingResult(steps, "", "", List.of()).story());
            }
        }
        List<String> errors = new ArrayList<>();
        sides.forEach(side -> errors.addAll(side.turnstile.errors()));
        sides.forEach(side -> side.turnstile.end());
        String reported = sides.stream().map(side -> side.outcome().toString()).collect(Collectors.joining("\n"));
        return new InterleavingResult(steps, reported, fixture.rows(), errors);
    }

    /** The statement of a side whose turn it is. It may have to wait for a connection that is being closed. */
    private StatementFootprint awaited(InterleavedClient side, long start) {
        while (System.nanoTime() - start < LONGEST && !side.isDone()) {
            StatementFootprint statement = side.turnstile.next();
            if (statement != null) {
                return statement;
            }
            settle(side);
        }
        throw new AssertionError("side " + side.number + " went another way than the last time");
    }

    private List<Integer> ready() {
        List<Integer> ready = new ArrayList<>();
        for (InterleavedClient side : sides) {
            if (!side.isDone() && side.turnstile.next() != null) {
                ready.add(side.number);
            }
        }
        return ready;
    }

    /** Until the side stands at its next statement, is done, or waits for the other. True: it waits. */
    private boolean settle(InterleavedClient side) {
        long start = System.nanoTime();
        while (!side.turnstile.awaitArrival(side::isDone)) {
            if (fixture.waits(side.turnstile.backend(), other(side).turnstile.backend())) {
                return true;
            }
            if (System.nanoTime() - start > LONGEST) {
                throw new AssertionError("side " + side.number + " neither goes on nor waits for a lock");
            }
        }
        return false;
    }

    private InterleavedClient other(InterleavedClient side) {
        return sides.get(1 - side.number);
    }

    static @Nullable StatementFootprint next(List<InterleavedClient> sides, int side) {
        return sides.get(side).turnstile.next();
    }
}
