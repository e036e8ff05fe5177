package dev.semel.server.files.yaml;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Collects all errors of a file while it is read, so that one publish attempt shows all of them. */
public final class YamlFileErrorCollector {
    /** Limit: a file with more errors than this has one cause, and the first hundred show it. */
    static final int LIMIT = 100;

    private final YamlSourceText source;
    private final String file;
    private final String untouched;
    private final List<FileError> found = new ArrayList<>();

    public YamlFileErrorCollector(YamlSourceText source) {
        this(source, "workflow file", "Nothing was published.");
    }

    /**
     * @param file kind of file, for the message
     * @param untouched sentence that says what did not happen
     */
    public YamlFileErrorCollector(YamlSourceText source, String file, String untouched) {
        this.source = source;
        this.file = file;
        this.untouched = untouched;
    }

    /** @param note a few words beside the caret */
    private record FileError(YamlSourceRange spot, String message, String note, String fix) {}

    static final String FIX = "Correct the file and publish it again.";

    public void add(YamlSourceRange spot, String message) {
        add(spot, message, "here", FIX);
    }

    public void add(YamlSourceRange spot, String message, String note, String fix) {
        var problem = new FileError(spot, message, note, fix);
        // A macro can contain its argument twice; its error is reported once.
        if (found.size() < LIMIT && !found.contains(problem)) {
            found.add(problem);
        }
    }

    /** The line of a position, counted from 1. */
    public int line(YamlSourceRange spot) {
        return source.line(spot.start());
    }

    public int column(YamlSourceRange spot) {
        return source.column(spot.start());
    }

    public int count() {
        return found.size();
    }

    public void throwIfAny() {
        if (!found.isEmpty()) {
            throw exception();
        }
    }

    public SemelException exception() {
        found.sort(Comparator.comparingInt(problem -> problem.spot().start()));
        FileError first = found.getFirst();
        int line = source.line(first.spot().start());
        int column = source.column(first.spot().start());
        String count = found.size() == 1 ? "an error" : found.size() + " errors, the first";
        String detail = "The %s has %s at line %d, column %d: %s\n%s\n%s"
                .formatted(
                        file,
                        count,
                        line,
                        column,
                        first.message(),
                        source.excerpt(first.spot(), first.note()),
                        untouched);
        return new SemelException(ErrorCode.INVALID_DEFINITION, detail, first.fix())
                .with("errors", found.stream().map(this::member).toList());
    }

    private Map<String, Object> member(FileError problem) {
        int start = problem.spot().start();
        return Map.of(
                "line", source.line(start),
                "column", source.column(start),
                "message", problem.message(),
                "pointer", problem.spot().pointer(),
                "excerpt", source.excerpt(problem.spot(), problem.note()),
                "fix", problem.fix());
    }
}
