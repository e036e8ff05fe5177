package dev.semel.trials.crash;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** One cell of the crash matrix: what a run does, how the receiver treats it, and where the processes end one by one. */
record Cell(Kind store, Deed deed, String manners, List<Life.Halt> halts) {
    enum Kind {
        SQLITE,
        POSTGRES
    }

    Cell(Kind store, Deed deed, String manners, Life.Halt... halts) {
        this(store, deed, manners, List.of(halts));
    }

    String title() {
        String where = halts.stream().map(Life.Halt::toString).collect(Collectors.joining(" then "));
        return store.name().toLowerCase(Locale.ROOT) + " " + deed.name().toLowerCase(Locale.ROOT) + " " + manners + " "
                + (where.isEmpty() ? "no-halt" : where);
    }
}
