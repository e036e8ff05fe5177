package dev.semel.testing;

import java.util.stream.Collectors;

/** Thrown when a crash sweep finds failures; names each crash point, to reproduce it with {@link WorkflowTestKit#crashAt}. */
final class CrashInjectionFailed extends AssertionError {
    private final transient CrashInjectionReport report;

    CrashInjectionFailed(CrashInjectionReport report, boolean duplicatesCount) {
        super(
                report.text() + "\n" + report.failures(duplicatesCount).stream().collect(Collectors.joining("\n")),
                report.firstProblem());
        this.report = report;
    }

    public CrashInjectionReport report() {
        return report;
    }
}
