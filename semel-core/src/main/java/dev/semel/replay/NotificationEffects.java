package dev.semel.replay;

import dev.semel.effect.EffectLedger;
import dev.semel.run.StepId;
import dev.semel.run.StepPathFormat;
import dev.semel.definition.DeclaredStep;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the notifications among the effects of a run. */
final class NotificationEffects {
    private static final String NOTIFY = "notify";

    private NotificationEffects() {}

    /**
     * Paths of the notifications that runs of the lineage sent and that the next version still has. Without suppressed
     * ones, and without those whose key another run has used since: its window would suppress them.
     */
    static List<String> sent(ReplaySource past) {
        TreeSet<String> sent = new TreeSet<>();
        for (EffectLedger.EffectRow row : past.rows()) {
            String path = row.details().path();
            boolean own =
                    row.holder().step().equals(StepId.of(past.lineage(), path).text())
                            && StepPathFormat.compensationOf(StepPathFormat.scopeOf(path)) == null;
            boolean done = row.state() == EffectLedger.EffectState.DONE && !row.isStepNote() && row.suppressedBy() == null;
            if (own && done && row.details().does().equals(NOTIFY) && stays(past, path)) {
                sent.add(path);
            }
        }
        return List.copyOf(sent);
    }

    private static boolean stays(ReplaySource past, String path) {
        DeclaredVersions.StepMatch place = past.versions().match(path, "effect");
        return place == DeclaredVersions.StepMatch.SAME || place == DeclaredVersions.StepMatch.CHANGED;
    }

    /** Whether the effect is a notification; null if unknown, because it is Java code that did not run yet. */
    static @Nullable Boolean isNotification(ReplaySource past, String path, EffectLedger.@Nullable EffectRow row) {
        List<DeclaredStep> next = past.versions().next();
        DeclaredStep here = next == null ? null : DeclaredVersions.find(next, path);
        String does = here == null || here.does().isEmpty() ? "" : here.does();
        if (does.isEmpty() && row != null) {
            does = row.details().does();
        }
        return does.isEmpty() ? null : does.equals(NOTIFY);
    }

    static boolean isNotification(DeclaredStep declared) {
        return declared.does().equals(NOTIFY);
    }
}
