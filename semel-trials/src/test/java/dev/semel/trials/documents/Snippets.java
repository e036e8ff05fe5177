package dev.semel.trials.documents;

import dev.semel.trials.architecture.SourceFile;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Code that documents may show: marked in tests, so that the build compiles and runs it. */
record Snippets(Set<String> texts) {
    private static final Pattern MARKED = Pattern.compile("(?ms)^ *// snippet\\n(.*?)^ *// end$");

    static Snippets among(List<SourceFile> files) {
        Set<String> texts = new LinkedHashSet<>();
        for (SourceFile file : files) {
            if (file.path().endsWith(".java") && file.path().contains("/src/test/java/")) {
                for (Matcher marked = MARKED.matcher(file.text()); marked.find(); ) {
                    texts.add(plain(marked.group(1)));
                }
            }
        }
        return new Snippets(texts);
    }

    /** Where it is indented to in its file does not count. */
    private static String plain(String text) {
        return text.stripTrailing().stripIndent().strip();
    }

    void check(String block) {
        if (!texts.contains(plain(block))) {
            throw new IllegalArgumentException("No test has this code between // snippet and // end.");
        }
    }
}
