package dev.semel.trials.documents;

import dev.semel.trials.architecture.SourceFile;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One fenced code block.
 *
 * @param line where its fence opens, from 1
 * @param language the first word of the info string, empty where there is none
 * @param words the rest of the info string: {@code run}, {@code until}, {@code exit=3}, {@code server}, or
 *     {@code norun} and a reason
 */
record CodeBlock(String path, int line, String language, String words, String text) {
    private static final Pattern FENCE = Pattern.compile("^( *)(`{3,}|~{3,})\\s*(\\S*)\\s*(.*?)\\s*$");
    private static final Pattern EXIT = Pattern.compile("\\bexit=(\\d{1,3})\\b");

    static List<CodeBlock> of(SourceFile file) {
        List<CodeBlock> blocks = new ArrayList<>();
        List<String> lines = file.lines();
        for (int i = 0; i < lines.size(); i++) {
            Matcher open = FENCE.matcher(lines.get(i));
            if (!open.matches()) {
                continue;
            }
            int start = i + 1;
            StringBuilder text = new StringBuilder();
            for (i++; i < lines.size() && !closes(lines.get(i), open.group(2)); i++) {
                text.append(unindented(lines.get(i), open.group(1).length())).append('\n');
            }
            blocks.add(new CodeBlock(file.path(), start, open.group(3), open.group(4), text.toString()));
        }
        return blocks;
    }

    boolean isSession() {
        return language.equals("sh") && words.matches("run( .*)?");
    }

    /** A command that starts the server of its page and stays; `server` stands behind `sh`. */
    boolean isServer() {
        return language.equals("sh") && words.equals("server");
    }

    /** It looks at something that takes a moment, or asks again what may be asked again: repeated until it fits. */
    boolean isPatient() {
        return isSession() && words.matches("run( .*)? until( .*)?");
    }

    boolean isOutput() {
        return language.equals("text") && !isExcused();
    }

    boolean isExcused() {
        return words.matches("norun( .*)?");
    }

    /** Why it is not run; empty where nobody said. */
    String reason() {
        return words.substring("norun".length()).strip();
    }

    /** The exit code that the commands are shown to end with. */
    int exit() {
        Matcher stated = EXIT.matcher(words);
        return stated.find() ? Integer.parseInt(stated.group(1)) : 0;
    }

    String place() {
        return path + ":" + line;
    }

    private static boolean closes(String line, String fence) {
        String bare = line.strip();
        return bare.startsWith(fence) && bare.chars().allMatch(c -> c == fence.charAt(0));
    }

    /** A block inside a list is indented with its fence. */
    private static String unindented(String line, int spaces) {
        int indent = 0;
        while (indent < spaces && indent < line.length() && line.charAt(indent) == ' ') {
            indent++;
        }
        return line.substring(indent);
    }
}
