package dev.semel.trials.documents;

import dev.semel.trials.architecture.SourceFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The links between pages: each must lead to a file that is there, and to a heading that is in it. */
public record DocumentLinks(Map<String, SourceFile> files) {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("^#{1,6} +(.*)$");

    public static DocumentLinks among(List<SourceFile> files) {
        Map<String, SourceFile> byPath = new HashMap<>();
        files.forEach(file -> byPath.put(file.path(), file));
        return new DocumentLinks(byPath);
    }

    /** @param others paths that exist beside the text files, such as the licence */
    public List<String> broken(SourceFile page, Set<String> others) {
        List<String> broken = new ArrayList<>();
        for (Matcher link = LINK.matcher(page.text()); link.find(); ) {
            String target = link.group(1);
            if (!target.contains("://") && !leads(page, target, others)) {
                broken.add(page.path() + ": " + target);
            }
        }
        return broken;
    }

    private boolean leads(SourceFile page, String target, Set<String> others) {
        int hash = target.indexOf('#');
        String file = hash < 0 ? target : target.substring(0, hash);
        String path = file.isEmpty()
                ? page.path()
                : Path.of(page.path()).resolveSibling(file).normalize().toString();
        SourceFile found = files.get(path);
        if (found == null) {
            return others.contains(path);
        }
        return hash < 0 || anchors(found).contains(target.substring(hash + 1));
    }

    private static Set<String> anchors(SourceFile page) {
        Set<String> anchors = new TreeSet<>();
        for (String line : page.lines()) {
            Matcher heading = HEADING.matcher(line);
            if (heading.matches()) {
                String text = heading.group(1).toLowerCase(Locale.ROOT);
                anchors.add(text.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'));
            }
        }
        return anchors;
    }
}
