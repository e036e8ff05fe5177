package dev.semel.trials.seeds;

import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A row of {@code seed-statements.md}.
 *
 * @param evidence the names of tests, or the reason why Semel differs or the statement is open
 */
record SeedStatement(int number, String quote, Verdict verdict, String evidence) {
    private static final Pattern ROW =
            Pattern.compile("\\| (\\d{1,3}) \\| (\\S.*?) \\| (holds|differs on purpose|open) \\| (\\S.*?) \\|");
    private static final Pattern TEST = Pattern.compile("`([\\w.]+#\\w+)`");
    private static final Pattern HEADING_LINK = Pattern.compile("\\]\\(\\.\\./docs/[^)#]+#[^)#]+\\)");

    enum Verdict {
        HOLDS,
        DIFFERS_ON_PURPOSE,
        OPEN
    }

    static boolean isRow(String line) {
        return ROW.matcher(line).matches();
    }

    static SeedStatement of(String line) {
        Matcher row = ROW.matcher(line);
        if (!row.matches()) {
            throw new IllegalArgumentException("Not a row of the table: " + line);
        }
        Verdict verdict = Verdict.valueOf(row.group(3).toUpperCase(Locale.ROOT).replace(' ', '_'));
        return new SeedStatement(Integer.parseInt(row.group(1)), row.group(2), verdict, row.group(4));
    }

    /** As {@code Class#method}, or with as much of the package as makes the class unique. */
    List<String> tests() {
        return TEST.matcher(evidence)
                .results()
                .map((MatchResult test) -> test.group(1))
                .toList();
    }

    /** The evidence without the names of tests. */
    String reason() {
        return TEST.matcher(evidence).replaceAll("").replaceAll("^[, ]+|[, ]+$", "");
    }

    boolean linksToHeading() {
        return HEADING_LINK.matcher(evidence).find();
    }
}
