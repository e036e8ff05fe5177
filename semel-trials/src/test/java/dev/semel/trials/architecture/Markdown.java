package dev.semel.trials.architecture;

import java.util.ArrayList;
import java.util.List;

/** As much of Markdown as the checks need: headings outside of fenced blocks. */
final class Markdown {
    /** A heading as written, with its hashes. */
    record Heading(String text, int line) {
        boolean isTitle() {
            return text.startsWith("# ");
        }
    }

    static List<Heading> headings(SourceFile file) {
        List<Heading> headings = new ArrayList<>();
        String fence = "";
        List<String> lines = file.lines();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (fence.isEmpty() && (line.startsWith("```") || line.startsWith("~~~"))) {
                fence = line.replaceAll("^(`{3,}|~{3,}).*", "$1");
            } else if (!fence.isEmpty() && line.equals(fence)) {
                fence = "";
            } else if (fence.isEmpty() && lines.get(i).matches("#{1,6} .*")) {
                headings.add(new Heading(line, i + 1));
            }
        }
        return headings;
    }

    private Markdown() {}
}
