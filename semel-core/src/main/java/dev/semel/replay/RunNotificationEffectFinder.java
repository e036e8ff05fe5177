package dev.semel.replay;

import dev.semel.definition.DeclaredStep;
import dev.semel.effect.EffectLedger;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.StepId;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

final class RunNotificationEffectFinder {
    private static final String NOTIFY = "notify";

    private RunNotificationEffectFinder() {}

    /**
     * Paths of the notifications that runs of the lineage sent and that the next version still has. Without suppressed
     * ones, and without those whose key another run has used since: its window would suppress them.
     */
    static List<String> sent(ReplayPlannerInput source) {
        TreeSet<String> sent = new TreeSet<>();
        for (EffectLedger.EffectRow row : source.rows()) {
            String path = row.details().path();
            boolean own =
                    row.holder().step().equals(StepId.of(source.lineage(), path).text())
                            && JournalStepPathFormat.compensationOf(JournalStepPathFormat.scopeOf(path)) == null;
            boolean done =
                    row.state() == EffectLedger.EffectState.DONE && !row.isStepNote() && row.suppressedBy() == null;
            if (own && done && row.details().does().equals(NOTIFY) && stays(source, path)) {
                sent.add(path);
            }
        }
        return List.copyOf(sent);
    }

    private static boolean stays(ReplayPlannerInput source, String path) {
        ReplayDeclaredStepsByVersion.StepMatch stepMatch = source.versions().match(path, "effect");
        return stepMatch == ReplayDeclaredStepsByVersion.StepMatch.SAME
                || stepMatch == ReplayDeclaredStepsByVersion.StepMatch.CHANGED;
    }

    /** Whether the effect is a notification; null if unknown, because it is Java code that did not run yet. */
    static @Nullable Boolean isNotification(
            ReplayPlannerInput source, String path, EffectLedger.@Nullable EffectRow row) {
        List<DeclaredStep> next = source.versions().next();
        DeclaredStep here = next == null ? null : ReplayDeclaredStepsByVersion.find(next, path);
        String does = here == null ? "" : here.does();
        if (does.isEmpty() && row != null) {
            does = row.details().does();
        }
        return does.isEmpty() ? null : does.equals(NOTIFY);
    }

    static boolean isNotification(DeclaredStep declared) {
        return declared.does().equals(NOTIFY);
    }
}
