package dev.semel.trials.architecture;

import java.io.IOException;
import java.util.List;

/**
 * The structure of one Java file, from javac's parser: names, sizes, and strings joined with {@code +}.
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

    /** A method or constructor. */
    record MethodSize(String name, int line, int bodyLines) {}

    /** Literals joined with {@code +} or filled by {@code formatted}; anything else is {@code ?}. */
    record ConcatenatedText(String text, int line) {}

    static List<JavaFileStructure> parse(List<SourceFile> files) throws IOException {
        return ParsedJava.of(files).stream()
                .map(parsed -> new JavaStructureScanner(parsed).shape())
                .toList();
    }
}
