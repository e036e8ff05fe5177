package dev.semel.trials.crash;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** One cell of the crash matrix: what a run does, how the receiver treats it, and where the processes end one by one. */
record MatrixCell(Kind store, CrashAction effect, String manners, List<ProcessLife.HaltPoint> halts) {
    enum Kind {
        SQLITE,
        POSTGRES
    }

    MatrixCell(Kind store, CrashAction effect, String manners, ProcessLife.HaltPoint... halts) {
        this(store, effect, manners, List.of(halts));
    }

    String title() {
        String where = halts.stream().map(ProcessLife.HaltPoint::toString).collect(Collectors.joining(" then "));
        return store.name().toLowerCase(Locale.ROOT) + " " + effect.name().toLowerCase(Locale.ROOT) + " " + manners
                + " " + (where.isEmpty() ? "no-halt" : where);
    }
}
