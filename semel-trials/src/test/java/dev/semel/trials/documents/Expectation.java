package dev.semel.trials.documents;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a document says that a command prints. {@code …} inside a line stands for any text, a line that is only
 * {@code …} for any lines. White space at the end of lines and blank lines at the end do not count.
 */
record Expectation(List<String> lines) {
    private static final String ANY = "…";

    Expectation(String text) {
        this(lines(text));
    }

    /** What differs, or nothing. */
    Optional<String> differs(String output) {
        List<String> actual = lines(output);
        // reach[a]: the expected lines so far can account for the first a actual lines.
        boolean[] reach = new boolean[actual.size() + 1];
        reach[0] = true;
        for (String expected : lines) {
            boolean[] next = expected.strip().equals(ANY) ? afterAny(reach) : afterLine(reach, expected, actual);
            if (none(next)) {
                return Optional.of(report("expected this line: " + expected, actual, furthest(reach)));
            }
            reach = next;
        }
        return reach[actual.size()]
                ? Optional.empty()
                : Optional.of(report("expected the output to end", actual, furthest(reach)));
    }

    private static boolean[] afterAny(boolean[] reach) {
        boolean[] next = new boolean[reach.length];
        boolean reached = false;
        for (int a = 0; a < reach.length; a++) {
            reached |= reach[a];
            next[a] = reached;
        }
        return next;
    }

    private static boolean[] afterLine(boolean[] reach, String expected, List<String> actual) {
        Pattern pattern = pattern(expected);
        boolean[] next = new boolean[reach.length];
        for (int a = 0; a < actual.size(); a++) {
            next[a + 1] = reach[a] && pattern.matcher(actual.get(a)).matches();
        }
        return next;
    }

    private static Pattern pattern(String expected) {
        return Pattern.compile(
                Stream.of(expected.split(ANY, -1)).map(Pattern::quote).collect(Collectors.joining(".*")));
    }

    private static boolean none(boolean[] reach) {
        return furthest(reach) < 0;
    }

    private static int furthest(boolean[] reach) {
        for (int a = reach.length - 1; a >= 0; a--) {
            if (reach[a]) {
                return a;
            }
        }
        return -1;
    }

    private static String report(String wanted, List<String> actual, int line) {
        String found = line < actual.size() ? "found: " + actual.get(line) : "found the end of the output";
        return wanted + "\n  " + found + "\n  the whole output:\n    " + String.join("\n    ", actual);
    }

    private static List<String> lines(String text) {
        return text.stripTrailing().lines().map(String::stripTrailing).toList();
    }
}
