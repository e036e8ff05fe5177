package dev.semel.trials.chaos.verdict;

import java.util.ArrayList;
import java.util.List;

/** All that is wrong; empty where every promise was kept. */
public final class Verdict {
    private Verdict() {}

    public static List<Violation> of(Evidence evidence) {
        List<Violation> all = new ArrayList<>();
        all.addAll(AdmissionJudge.judge(evidence));
        all.addAll(OwnerJudge.judge(evidence));
        all.addAll(EffectJudge.judge(evidence));
        return all;
    }
}
