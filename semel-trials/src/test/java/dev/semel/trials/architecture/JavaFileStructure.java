package dev.semel.trials.architecture;

import java.io.IOException;
import java.util.List;

/**
 * The shape of one Java file as javac's parser sees it: names, sizes, and strings joined with {@code +}.
 *
 * @param monitors the lines of {@code synchronized} blocks
 */
record JavaFileStructure(
        SourceFile file,
        String packageName,
        List<NamedType> types,
        List<MethodSize> methods,
        List<ConcatenatedText> concatenations,
        List<Integer> monitors) {

    record NamedType(String name, int line) {}

    /**
     * A method or constructor with a body.
     *
     * @param bound its parameters are not its own choice: a record's fields, a supertype's method, a table's columns
     */
    record MethodSize(String name, int line, int bodyLines, int parameters, boolean bound) {}

    /** Literals joined with {@code +} or filled by {@code formatted}; what is not a literal shows as {@code ?}. */
    record ConcatenatedText(String text, int line) {}

    static List<JavaFileStructure> parse(List<SourceFile> files) throws IOException {
        return ParsedJava.of(files).stream()
                .map(parsed -> new JavaStructureScanner(parsed).shape())
                .toList();
    }
}
