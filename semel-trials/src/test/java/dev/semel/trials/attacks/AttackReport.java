package dev.semel.trials.attacks;

import dev.semel.trials.attacks.AttackCatalog.Attack;
import dev.semel.trials.attacks.AttackCatalog.TestPattern;
import java.util.ArrayList;
import java.util.List;

/** The verdict of each attack from the tests that ran. An attack that was not tried has not been withstood. */
record AttackReport(List<Row> rows) {
    enum Verdict {
        WITHSTOOD("withstood"),
        FAILED("FAILED"),
        NOT_TRIED("not tried");

        private final String text;

        Verdict(String text) {
            this.text = text;
        }
    }

    /**
     * @param type simple name of the test class
     * @param failure the first line of the failure; empty if it passed
     * @param ran false if it was skipped
     */
    record TestRun(String type, String method, String failure, boolean ran) {}

    record Row(Attack attack, String seen, Verdict verdict) {}

    static AttackReport of(AttackCatalog catalog, List<TestRun> runs) {
        return new AttackReport(
                catalog.attacks().stream().map(attack -> row(attack, runs)).toList());
    }

    private static Row row(Attack attack, List<TestRun> runs) {
        List<String> missing = new ArrayList<>();
        int count = 0;
        for (TestPattern pattern : attack.tests()) {
            List<TestRun> found = runs.stream()
                    .filter(run -> run.ran() && pattern.matches(run.type(), run.method()))
                    .toList();
            for (TestRun run : found) {
                if (!run.failure().isEmpty()) {
                    return new Row(attack, run.type() + "#" + run.method() + ": " + run.failure(), Verdict.FAILED);
                }
            }
            count += found.size();
            if (found.isEmpty()) {
                missing.add(pattern.toString());
            }
        }
        return missing.isEmpty()
                ? new Row(attack, "as expected, in " + count + (count == 1 ? " test" : " tests"), Verdict.WITHSTOOD)
                : new Row(attack, "did not run: " + String.join(", ", missing), Verdict.NOT_TRIED);
    }

    boolean allWithstood() {
        return rows.stream().allMatch(row -> row.verdict() == Verdict.WITHSTOOD);
    }

    String table() {
        StringBuilder out =
                new StringBuilder("| id | area | sent | expected | seen | verdict |\n|---|---|---|---|---|---|\n");
        for (Row row : rows) {
            Attack attack = row.attack();
            out.append("| ")
                    .append(String.join(
                            " | ",
                            attack.id(),
                            attack.area(),
                            attack.sent(),
                            attack.expected(),
                            row.seen().replace("|", "\\|"),
                            row.verdict().text))
                    .append(" |\n");
        }
        for (Verdict verdict : Verdict.values()) {
            long count = rows.stream().filter(row -> row.verdict() == verdict).count();
            out.append(verdict.text).append(": ").append(count).append('\n');
        }
        return out.toString();
    }
}
