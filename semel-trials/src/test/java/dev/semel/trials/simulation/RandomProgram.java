package dev.semel.trials.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What a run does, drawn from the seed and the id in its input, so that every execution of it does the same.
 *
 * @param ops in order; the place of each in the list is part of its step's name
 */
record RandomProgram(List<Kind> ops) {
    /** The input of a run. A child's id is that of its parent and the place of the call. */
    record ProgramInput(String id) {}

    enum Kind {
        STEP,
        PROVIDER_KEY,
        LOOKUP,
        AT_MOST_ONCE,
        ASK,
        REPEATABLE,
        /** A key across runs, with a window. */
        ONCE,
        SLEEP,
        /** For as long as it takes. */
        AWAIT,
        AWAIT_FOR,
        EACH,
        CHILD,
        COMPENSATE,
        FAIL,
        /** What a compensation sends; never in a list. */
        UNDO
    }

    private static final List<Kind> ANYTHING = List.of(
            Kind.STEP,
            Kind.PROVIDER_KEY,
            Kind.LOOKUP,
            Kind.AT_MOST_ONCE,
            Kind.ASK,
            Kind.REPEATABLE,
            Kind.ONCE,
            Kind.ONCE,
            Kind.SLEEP,
            Kind.AWAIT,
            Kind.AWAIT_FOR,
            Kind.EACH,
            Kind.CHILD,
            Kind.COMPENSATE);
    private static final List<Kind> SHORT = List.of(
            Kind.STEP, Kind.PROVIDER_KEY, Kind.LOOKUP, Kind.AT_MOST_ONCE, Kind.REPEATABLE, Kind.SLEEP, Kind.COMPENSATE);
    private static final int LONGEST = 6;
    private static final int ONE_IN = 5;

    static RandomProgram of(Random random, boolean child) {
        List<Kind> kinds = child ? SHORT : ANYTHING;
        List<Kind> ops = new ArrayList<>();
        int length = 2 + random.nextInt(child ? 2 : LONGEST - 1);
        for (int i = 0; i < length; i++) {
            ops.add(kinds.get(random.nextInt(kinds.size())));
        }
        if (random.nextInt(ONE_IN) == 0) {
            ops.add(random.nextInt(ops.size() + 1), Kind.FAIL);
        }
        return new RandomProgram(List.copyOf(ops));
    }

    boolean fails() {
        return ops.contains(Kind.FAIL);
    }

    /** The children that it may call, by the id of their input. */
    List<String> children(String id) {
        List<String> children = new ArrayList<>();
        for (int i = 0; i < ops.size(); i++) {
            if (ops.get(i) == Kind.CHILD) {
                children.add(id + "/" + i);
            }
        }
        return children;
    }
}
