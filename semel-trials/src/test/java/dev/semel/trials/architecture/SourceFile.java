package dev.semel.trials.architecture;

import java.util.List;

/**
 * One file of the repository as text.
 *
 * @param path from the root of the repository, with slashes
 */
public record SourceFile(String path, String text) {
    public List<String> lines() {
        return text.lines().toList();
    }

    public boolean isJava() {
        return path.endsWith(".java");
    }

    boolean isMain() {
        return path.contains("/src/main/");
    }

    public boolean isMarkdown() {
        return path.endsWith(".md");
    }

    String name() {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
