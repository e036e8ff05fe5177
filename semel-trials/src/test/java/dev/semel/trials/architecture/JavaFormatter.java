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
 * How our Java is laid out: palantir-java-format, with one repair. It does not know the pattern {@code _}, as in
 * {@code case Scalar(_, var value)}, and refuses the file. So it gets a pattern that it does know, and gives it back.
 */
final class JavaFormatter {
    private static final Formatter FORMATTER = Formatter.createFormatter(JavaFormatterOptions.builder()
            .style(JavaFormatterOptions.Style.PALANTIR)
            .build());

    /** A record pattern without parts, by a name that nobody gives a record. */
    private static final String STAND_IN = "ø()";

    /** Few files have the pattern, so only those are parsed once more; a lambda's parameter may look like it. */
    private static final Pattern MAYBE = Pattern.compile("[(,]\\s*_\\s*[,)]");

    static String format(SourceFile file) throws FormatterException, IOException {
        StringBuilder text = new StringBuilder(file.text());
        List<Integer> places = MAYBE.matcher(file.text()).find() ? anyPatterns(file) : List.of();
        if (places.isEmpty()) {
            return FORMATTER.formatSourceAndFixImports(file.text());
        }
        if (file.text().contains(STAND_IN)) {
            throw new IllegalArgumentException(file.path() + " contains " + STAND_IN + ", which stands in for _ here.");
        }
        for (int place : places.reversed()) {
            text.replace(place, place + 1, STAND_IN);
        }
        return FORMATTER.formatSourceAndFixImports(text.toString()).replace(STAND_IN, "_");
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
