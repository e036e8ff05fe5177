package dev.semel.testing;

import java.util.stream.Collectors;

/** Thrown when a crash sweep finds failures; names each crash point, to reproduce it with {@link Lab#crashAt}. */
public final class SweepFailed extends AssertionError {
    private final transient SweepReport report;

    SweepFailed(SweepReport report, boolean duplicatesCount) {
        super(
                report.text() + "\n" + report.failures(duplicatesCount).stream().collect(Collectors.joining("\n")),
                report.firstProblem());
        this.report = report;
    }

    public SweepReport report() {
        return report;
    }
}
