package dev.semel.trials.architecture;

import com.palantir.javaformat.java.Formatter;
import com.palantir.javaformat.java.FormatterException;
import com.palantir.javaformat.java.JavaFormatterOptions;
import com.sun.source.tree.AnyPatternTree;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Formats Java with palantir-java-format, with one workaround. That formatter rejects the pattern {@code _}, as in
 * {@code case Scalar(_, var value)}. So {@code _} is replaced by a pattern that it accepts, and restored afterwards.
 */
final class JavaFormatter {
    private static final Formatter FORMATTER = Formatter.createFormatter(JavaFormatterOptions.builder()
            .style(JavaFormatterOptions.Style.PALANTIR)
            .build());

    /** A record pattern without components, with a name that no record has. */
    private static final String PLACEHOLDER = "ø()";

    /** Only files that match are parsed again; a lambda parameter may look the same. */
    private static final Pattern MAYBE = Pattern.compile("[(,]\\s*_\\s*[,)]");

    static String format(SourceFile file) throws FormatterException, IOException {
        StringBuilder text = new StringBuilder(file.text());
        List<Integer> places = MAYBE.matcher(file.text()).find() ? anyPatterns(file) : List.of();
        if (places.isEmpty()) {
            return FORMATTER.formatSourceAndFixImports(file.text());
        }
        if (file.text().contains(PLACEHOLDER)) {
            throw new IllegalArgumentException(
                    file.path() + " contains " + PLACEHOLDER + ", which is the placeholder for _ here.");
        }
        for (int place : places.reversed()) {
            text.replace(place, place + 1, PLACEHOLDER);
        }
        return FORMATTER.formatSourceAndFixImports(text.toString()).replace(PLACEHOLDER, "_");
    }

    private static List<Integer> anyPatterns(SourceFile file) throws IOException {
        List<Integer> places = new ArrayList<>();
        for (ParsedJava parsed : ParsedJava.of(List.of(file))) {
            new TreeScanner<@Nullable Void, @Nullable Void>() {
                @Override
                public @Nullable Void visitAnyPattern(AnyPatternTree pattern, @Nullable Void nothing) {
                    // javac gives this pattern the position of the token behind it, so look back from there.
                    places.add(file.text().lastIndexOf('_', parsed.start(pattern)));
                    return null;
                }
            }.scan(parsed.unit(), null);
        }
        return places;
    }

    private JavaFormatter() {}
}
