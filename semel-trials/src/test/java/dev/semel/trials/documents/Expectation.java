package dev.semel.trials.documents;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a document says that a command prints. {@code …} inside a line stands for any text, a line that is only
 * {@code …} for any lines, and an id for the one that {@link DocumentIds} bound to it. White space at the end of lines and
 * blank lines at the end do not count.
 */
final class Expectation {
    private static final String ANY = "…";
    private static final Pattern HOLE = Pattern.compile(ANY + "|" + DocumentIds.SHOWN.pattern());

    /** What came out: the names known afterwards where it fits, or what differs. */
    record Comparison(DocumentIds names, Optional<String> difference) {}

    private final List<String> lines;
    private List<String> actual = List.of();
    private int furthest;
    private int stoppedAt;

    Expectation(String text) {
        this.lines = lines(text);
    }

    /** What differs, or nothing. */
    Optional<String> differs(String output) {
        return compare(output, new DocumentIds()).difference();
    }

    Comparison compare(String output, DocumentIds names) {
        actual = lines(output);
        furthest = 0;
        stoppedAt = 0;
        Optional<DocumentIds> fits = fits(0, 0, names);
        return fits.map(bound -> new Comparison(bound, Optional.empty()))
                .orElseGet(() -> new Comparison(names, Optional.of(report())));
    }

    /** The names under which the lines from here on fit, if any. */
    private Optional<DocumentIds> fits(int line, int at, DocumentIds names) {
        if (line > furthest) {
            furthest = line;
            stoppedAt = at;
        }
        if (line == lines.size()) {
            return at == actual.size() ? Optional.of(names) : Optional.empty();
        }
        if (lines.get(line).strip().equals(ANY)) {
            for (int next = at; next <= actual.size(); next++) {
                Optional<DocumentIds> found = fits(line + 1, next, names);
                if (found.isPresent()) {
                    return found;
                }
            }
            return Optional.empty();
        }
        return at == actual.size()
                ? Optional.empty()
                : line(lines.get(line), actual.get(at), names).flatMap(bound -> fits(line + 1, at + 1, bound));
    }

    private static Optional<DocumentIds> line(String expected, String found, DocumentIds names) {
        StringBuilder pattern = new StringBuilder();
        List<String> ids = new ArrayList<>();
        Matcher hole = HOLE.matcher(expected);
        int from = 0;
        while (hole.find()) {
            pattern.append(Pattern.quote(expected.substring(from, hole.start())));
            pattern.append(hole.group().equals(ANY) ? ".*?" : "(" + hole.group(1) + "_[A-Za-z0-9]+)");
            if (!hole.group().equals(ANY)) {
                ids.add(hole.group());
            }
            from = hole.end();
        }
        Matcher match = Pattern.compile(pattern + Pattern.quote(expected.substring(from)))
                .matcher(found);
        Optional<DocumentIds> bound = match.matches() ? Optional.of(names) : Optional.empty();
        for (int i = 0; i < ids.size() && bound.isPresent(); i++) {
            bound = bound.get().bound(ids.get(i), match.group(i + 1));
        }
        return bound;
    }

    private String report() {
        String wanted =
                furthest < lines.size() ? "expected this line: " + lines.get(furthest) : "expected the output to end";
        String found = stoppedAt < actual.size() ? "found: " + actual.get(stoppedAt) : "found the end of the output";
        return wanted + "\n  " + found + "\n  the whole output:\n    " + String.join("\n    ", actual);
    }

    private static List<String> lines(String text) {
        return text.stripTrailing().lines().map(String::stripTrailing).toList();
    }
}
