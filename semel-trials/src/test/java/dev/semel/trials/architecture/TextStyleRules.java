package dev.semel.trials.architecture;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Rules for postponed work, machine paths, SQL text, crash labels, error codes, titles and the changelog. */
final class TextStyleRules {
    // Written in two halves, so that the rule does not report this file.
    private static final Pattern POSTPONED = Pattern.compile("\\b(TO" + "DO|FIX" + "ME)\\b");

    /** Folders that exist on one machine only. System folders such as the usual homes of a JDK are fine. */
    private static final Pattern MACHINE_PATH =
            Pattern.compile("(?<![\\w.~/$})-])/(?:home|Users|root|work|tmp)/\\w|\\b[A-Z]:\\\\+Users\\b");

    private static final Pattern STATEMENT = Pattern.compile(
            "(?is)^\\s*(select\\b.+\\bfrom\\b|insert\\s+(or\\s+\\w+\\s+)?into\\b|update\\s+\\S+\\s+set\\b|delete\\s+from\\b"
                + "|(create|alter|drop)\\s+(unique\\s+)?(table|index|view)\\b|with\\s+\\w+\\s+as\\b).*");

    private static final Pattern CRASH = Pattern.compile("//.*\\bCRASH\\b");
    private static final Pattern CRASH_LABEL = Pattern.compile("^\\s*// CRASH\\(([a-z0-9]+(?:-[a-z0-9]+)*)\\): \\S.*");
    private static final Pattern SLUG_HEADING = Pattern.compile("^## `?([a-z0-9-]+)`?$");
    private static final Set<String> CHANGE_HEADINGS =
            new TreeSet<>(List.of("Safety", "Added", "Changed", "Fixed", "Upgrade notes"));
    private static final Pattern RELEASE =
            Pattern.compile("## \\[(Unreleased|\\d+\\.\\d+\\.\\d+\\] - \\d{4}-\\d\\d-\\d\\d)]?");

    static List<StyleFinding> postponed(List<SourceFile> files) {
        return grep(files, "postponed", POSTPONED, "Do it now, or open an issue and describe here what works today.");
    }

    static List<StyleFinding> machinePaths(List<SourceFile> files) {
        return grep(
                files, "machine-path", MACHINE_PATH, "Use a path relative to the repository, or a temporary folder.");
    }

    /** Recognises statements by their first words. Main code only: a test may count the rows of any table. */
    static List<StyleFinding> concatenatedSql(List<JavaFileStructure> shapes) {
        return shapes.stream()
                .filter(shape -> shape.file().isMain())
                .flatMap(shape -> shape.concatenations().stream()
                        .filter(text -> STATEMENT.matcher(text.text()).matches())
                        .map(text -> StyleFinding.in(
                                "concatenated-sql",
                                shape.file(),
                                text.line(),
                                "SQL is a whole statement in a text block with ? for values; write"
                                        + " each variant whole.")))
                .toList();
    }

    static List<StyleFinding> crashLabels(List<SourceFile> files) {
        List<StyleFinding> findings = new ArrayList<>();
        Map<String, String> seen = new LinkedHashMap<>();
        for (SourceFile file : files) {
            if (!file.isJava() || !file.isMain()) {
                continue;
            }
            List<String> lines = file.lines();
            for (int i = 0; i < lines.size(); i++) {
                Matcher label = CRASH_LABEL.matcher(lines.get(i));
                if (label.matches()) {
                    String first = seen.putIfAbsent(label.group(1), file.path() + ":" + (i + 1));
                    if (first != null) {
                        findings.add(StyleFinding.in(
                                "crash-label",
                                file,
                                i + 1,
                                "Label " + label.group(1) + " is already at " + first + ": one label, one point."));
                    }
                    if (i + 1 == lines.size()
                            || !lines.get(i + 1).matches(".*\\b(?:crashP|p)oint\\(\"" + label.group(1) + "\"\\);")) {
                        findings.add(StyleFinding.in(
                                "crash-label",
                                file,
                                i + 1,
                                "The next line is …point(\"" + label.group(1) + "\"); or no test can crash here."));
                    }
                } else if (CRASH.matcher(lines.get(i)).find()) {
                    findings.add(StyleFinding.in(
                            "crash-label",
                            file,
                            i + 1,
                            "Write a line of its own: \"// CRASH(label): what a restart finds\"."));
                }
            }
        }
        return findings;
    }

    static List<StyleFinding> errorCodes(Set<String> slugs, SourceFile page) {
        Set<String> documented = new TreeSet<>();
        List<StyleFinding> findings = new ArrayList<>();
        for (Markdown.Heading heading : Markdown.headings(page)) {
            Matcher slug = SLUG_HEADING.matcher(heading.text());
            if (slug.matches() && !documented.add(slug.group(1))) {
                findings.add(
                        StyleFinding.in("error-code", page, heading.line(), slug.group(1) + " is documented twice."));
            } else if (slug.matches() && !slugs.contains(slug.group(1))) {
                findings.add(StyleFinding.in(
                        "error-code",
                        page,
                        heading.line(),
                        "No ErrorCode has the slug " + slug.group(1) + ": remove the section or add the code."));
            }
        }
        for (String slug : new TreeSet<>(slugs)) {
            if (!documented.contains(slug)) {
                findings.add(
                        StyleFinding.in("error-code", page, 1, "Add a section \"## " + slug + "\" for the ErrorCode."));
            }
        }
        return findings;
    }

    static List<StyleFinding> titles(List<SourceFile> files) {
        List<StyleFinding> findings = new ArrayList<>();
        for (SourceFile file : files) {
            if (!file.isMarkdown()) {
                continue;
            }
            List<Markdown.Heading> headings = Markdown.headings(file);
            long titles = headings.stream().filter(Markdown.Heading::isTitle).count();
            if (titles != 1 || !headings.getFirst().isTitle()) {
                findings.add(StyleFinding.in(
                        "title",
                        file,
                        1,
                        titles + " titles. A page starts with one \"# Title\"; its parts are \"## Part\"."));
            }
        }
        return findings;
    }

    static List<StyleFinding> changelog(SourceFile file) {
        List<StyleFinding> findings = new ArrayList<>();
        String release = "";
        String heading = "";
        List<String> lines = file.lines();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.startsWith("## ")) {
                release = RELEASE.matcher(line).matches() ? line : "";
                heading = "";
                if (release.isEmpty()) {
                    findings.add(StyleFinding.in(
                            "changelog",
                            file,
                            i + 1,
                            "A release is \"## [Unreleased]\" or \"## [1.2.3] - 2026-01-31\"."));
                }
            } else if (line.startsWith("### ")) {
                heading = line.substring(4).strip();
                if (!CHANGE_HEADINGS.contains(heading)) {
                    findings.add(StyleFinding.in(
                            "changelog",
                            file,
                            i + 1,
                            "Unknown heading \"" + heading + "\": use one of " + CHANGE_HEADINGS + "."));
                }
            } else if (line.startsWith("- ") && (release.isEmpty() || heading.isEmpty())) {
                findings.add(StyleFinding.in(
                        "changelog",
                        file,
                        i + 1,
                        "A change is listed under a release and one of " + CHANGE_HEADINGS + "."));
            }
        }
        return findings;
    }

    private static List<StyleFinding> grep(List<SourceFile> files, String check, Pattern pattern, String message) {
        List<StyleFinding> findings = new ArrayList<>();
        for (SourceFile file : files) {
            List<String> lines = file.lines();
            for (int i = 0; i < lines.size(); i++) {
                Matcher found = pattern.matcher(lines.get(i));
                if (found.find()) {
                    findings.add(StyleFinding.in(check, file, i + 1, "\"" + found.group() + "\". " + message));
                }
            }
        }
        return findings;
    }

    private TextStyleRules() {}
}
