package dev.semel.trials.documents;

import dev.semel.trials.architecture.SourceFile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Java on pages, taken from code that the tests run: what stands between {@code // snippet:name} and {@code // end} in a
 * Java file is what a block {@code java snippet:name} shows, without the indentation.
 *
 * @param texts by name
 */
record Snippets(Map<String, String> texts) {
    private static final Pattern BEGIN = Pattern.compile("^\\s*// snippet:([a-z][a-z-]*)$");
    private static final String END = "// end";
    private static final Pattern SHOWN = Pattern.compile("snippet:([a-z][a-z-]*)");

    static Snippets in(List<SourceFile> files) {
        Map<String, String> texts = new LinkedHashMap<>();
        files.stream().filter(file -> file.path().endsWith(".java")).forEach(file -> collect(file, texts));
        return new Snippets(texts);
    }

    private static void collect(SourceFile file, Map<String, String> into) {
        String name = null;
        StringBuilder text = new StringBuilder();
        for (String line : file.lines()) {
            Matcher begin = BEGIN.matcher(line);
            if (begin.matches()) {
                refuse(name != null, file, "snippet " + name + " has no end");
                name = begin.group(1);
                refuse(into.containsKey(name), file, "there are two snippets " + name);
            } else if (name != null && line.strip().equals(END)) {
                into.put(name, text.toString().stripTrailing().stripIndent().strip() + "\n");
                text.setLength(0);
                name = null;
            } else if (name != null) {
                text.append(line).append('\n');
            }
        }
        refuse(name != null, file, "snippet " + name + " has no end");
    }

    private static void refuse(boolean wrong, SourceFile file, String what) {
        if (wrong) {
            throw new IllegalArgumentException(file.path() + ": " + what + ".");
        }
    }

    /** Refuses a block of Java that is not the code it says it is. */
    void refuseOther(CodeBlock block) {
        String name = nameOf(block);
        String text = name == null ? null : texts.get(name);
        if (text == null) {
            throw new IllegalArgumentException("a block of Java says snippet:name, the name of a part of a Java file "
                    + "between \"// snippet:name\" and \"// end\"; this one has \"" + block.words() + "\".");
        }
        if (!text.equals(block.text())) {
            throw new IllegalArgumentException("differs from snippet:" + name + ", which is:\n" + text);
        }
    }

    static @Nullable String nameOf(CodeBlock block) {
        Matcher shown = SHOWN.matcher(block.words());
        return block.language().equals("java") && shown.matches() ? shown.group(1) : null;
    }

    /** Those that no page shows. */
    Set<String> unshown(List<CodeBlock> blocks) {
        Set<String> shown =
                blocks.stream().map(block -> String.valueOf(nameOf(block))).collect(Collectors.toSet());
        return texts.keySet().stream().filter(name -> !shown.contains(name)).collect(Collectors.toSet());
    }
}
