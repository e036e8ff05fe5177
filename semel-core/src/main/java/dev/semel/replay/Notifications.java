package dev.semel.replay;

import dev.semel.effect.Ledger;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.workflow.Expected;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the notifications among the effects of a run. */
final class Notifications {
    private static final String NOTIFY = "notify";

    private Notifications() {}

    /**
     * Paths of the notifications that runs of the lineage sent and that the next version still has. Without suppressed
     * ones, and without those whose key another run has used since: its window would suppress them.
     */
    static List<String> sent(Past past) {
        TreeSet<String> sent = new TreeSet<>();
        for (Ledger.Row row : past.rows()) {
            String path = row.facts().path();
            boolean own =
                    row.holder().step().equals(StepId.of(past.lineage(), path).text())
                            && StepPath.undoOf(StepPath.scopeOf(path)) == null;
            boolean done = row.state() == Ledger.State.DONE && !row.isNote() && row.stoodFor() == null;
            if (own && done && row.facts().does().equals(NOTIFY) && stays(past, path)) {
                sent.add(path);
            }
        }
        return List.copyOf(sent);
    }

    private static boolean stays(Past past, String path) {
        Versions.Place place = past.versions().at(path, "effect");
        return place == Versions.Place.SAME || place == Versions.Place.CHANGED;
    }

    /** Whether the effect is a notification; null if unknown, because it is Java code that did not run yet. */
    static @Nullable Boolean isOne(Past past, String path, Ledger.@Nullable Row row) {
        List<Expected> next = past.versions().next();
        Expected here = next == null ? null : Versions.find(next, path);
        String does = here == null || here.does().isEmpty() ? "" : here.does();
        if (does.isEmpty() && row != null) {
            does = row.facts().does();
        }
        return does.isEmpty() ? null : does.equals(NOTIFY);
    }

    static boolean isOne(Expected declared) {
        return declared.does().equals(NOTIFY);
    }
}
