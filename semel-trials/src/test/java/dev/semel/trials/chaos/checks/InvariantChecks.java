package dev.semel.trials.chaos.checks;

import java.util.ArrayList;
import java.util.List;

/** All that is wrong; empty where every promise was kept. */
public final class InvariantChecks {
    private InvariantChecks() {}

    public static List<Violation> of(Evidence evidence) {
        List<Violation> all = new ArrayList<>();
        all.addAll(AdmissionChecks.judge(evidence));
        all.addAll(OwnershipChecks.judge(evidence));
        all.addAll(EffectChecks.judge(evidence));
        return all;
    }
}
