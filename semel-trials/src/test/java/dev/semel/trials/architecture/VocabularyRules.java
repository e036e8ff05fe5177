package dev.semel.trials.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Phrases that readers cannot search for, each with the words to write instead. */
final class VocabularyRules {
    /** @param pattern whole words; a space matches any white space, also a line break */
    record BannedPhrase(Pattern pattern, String instead) {
        static BannedPhrase of(String words, String instead) {
            String regex = "(?i)(?<![\\w-])(?:" + words.replace(" ", "\\s+") + ")(?![\\w-])";
            return new BannedPhrase(Pattern.compile(regex), instead);
        }
    }

    private static final String IS = "(?:is|are|was|were|be|been|being|gets?)";

    static final List<BannedPhrase> BANNED = List.of(
            BannedPhrase.of("deeds?", "side effect, action"),
            BannedPhrase.of("foretold|foretells?|foresight", "predicted, prediction, preview"),
            BannedPhrase.of("letterbox(?:es)?", "signal wait"),
            BannedPhrase.of("unless (?:it is )?told|unless it says(?: so)?|unless told otherwise", "Default: …"),
            BannedPhrase.of(
                    IS + " (?:not |never |then |only )?told",
                    "an actor and a verb: the server returns, notifies, shows"),
            BannedPhrase.of("on record", "recorded"),
            BannedPhrase.of("(?:goes|go|going|went|gone) on(?! (?:top|to|call|line))", "continues"),
            BannedPhrase.of("vouch(?:es|ed|ing)?", "authenticates"),
            BannedPhrase.of("(?:is|are|was|were|be) seen to", "is processed"),
            BannedPhrase.of("(?:is|are|was|were|be|being) driven", "runs"),
            // "The connection is refused" is the term of TCP. One \s: a look-behind without a bound is quadratic.
            BannedPhrase.of("(?<!connection\\s)" + IS + " (?:not |never |then |also )?refused", "the server rejects"),
            BannedPhrase.of("(?:50|90|95|99) of (?:100|a hundred)", "p50, p90, p95, p99"),
            BannedPhrase.of("what stands", "what applies, what is recorded"),
            BannedPhrase.of("the house", "the codebase, the server"),
            BannedPhrase.of("hindsight", "lineage snapshot"),
            BannedPhrase.of("misfits?", "incompatible run"),
            BannedPhrase.of("somebody", "a user, another user"),
            BannedPhrase.of("(?:a person|people|whoever|those|one) who looks?|whoever looks", "viewer"),
            BannedPhrase.of("wish(?:es|ed)?", "key claim, request"),
            BannedPhrase.of("believe(?:s|d)?", "trusts"),
            BannedPhrase.of("doors", "trigger sources, ingress"),
            BannedPhrase.of("(?:pure|other) rooms?|rooms", "packages"),
            BannedPhrase.of("five signals", "monitoring, five metrics"),
            BannedPhrase.of("word to", "report, notification"));

    private static final Set<String> ROOT_PAGES = Set.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "semel");
    private static final Set<String> DESCRIPTIONS = Set.of("openapi.json", "workflow-1.json");

    /** What a user reads: documents, examples, templates, descriptions, and the texts and comments of main Java. */
    static boolean covers(SourceFile file) {
        String path = file.path();
        return ROOT_PAGES.contains(path)
                || path.startsWith("docs/") && file.isMarkdown()
                || path.startsWith("examples/")
                || file.isMain() && (file.isJava() || path.endsWith(".jte") || path.endsWith(".js"))
                || file.isMain() && DESCRIPTIONS.contains(file.name());
    }

    static List<StyleFinding> check(List<SourceFile> files) {
        List<StyleFinding> findings = new ArrayList<>();
        for (SourceFile file : files) {
            if (covers(file)) {
                String prose = file.isJava() ? JavaProse.of(file.text()) : file.text();
                BANNED.forEach(banned -> find(file, prose, banned, findings));
            }
        }
        return findings;
    }

    private static void find(SourceFile file, String prose, BannedPhrase banned, List<StyleFinding> findings) {
        Matcher found = banned.pattern().matcher(prose);
        while (found.find()) {
            String phrase = found.group().replaceAll("\\s+", " ");
            long line = 1
                    + prose.substring(0, found.start())
                            .chars()
                            .filter(c -> c == '\n')
                            .count();
            findings.add(new StyleFinding(
                    "vocabulary",
                    file.path() + " " + phrase,
                    file.path() + ":" + line,
                    "\"" + phrase + "\". Write instead: " + banned.instead() + "."));
        }
    }

    private VocabularyRules() {}
}
