package dev.semel.store.jdbc.session;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Guards against mistakes, not attacks: skips quotes and comments and checks the first words of each statement. */
final class SqlTransactionControlDetector {
    private static final Set<String> WORDS = Set.of(
            "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "ATTACH", "DETACH", "VACUUM", "DISCARD", "RESET");

    /** Other steps reuse the session, so a setting that is not local would leak into them. */
    private static final Pattern OUTLIVES =
            Pattern.compile("(SET(?!\\s+(LOCAL|CONSTRAINTS)\\b)|PREPARE\\s+TRANSACTION)\\b.*", Pattern.DOTALL);

    /** The body of a database trigger contains semicolons and words such as BEGIN. */
    private static final Pattern TRIGGER = Pattern.compile("CREATE\\s+(\\w+\\s+)?TRIGGER\\b.*", Pattern.DOTALL);

    private static final Pattern TO_SAVEPOINT =
            Pattern.compile("ROLLBACK\\s+((TRANSACTION|WORK)\\s+)?TO\\b.*", Pattern.DOTALL);

    /** SQLite rolls the whole transaction back on such a conflict; later statements would then commit on their own. */
    private static final Pattern ON_CONFLICT =
            Pattern.compile("\\b(OR\\s+ROLLBACK|CONFLICT\\s+ROLLBACK|RAISE\\s*\\(\\s*ROLLBACK)\\b");

    private SqlTransactionControlDetector() {}

    /** Returns the first such keyword, or null. */
    static @Nullable String findIn(String sql) {
        String bare = bare(sql).toUpperCase(Locale.ROOT);
        Matcher conflict = ON_CONFLICT.matcher(bare);
        if (conflict.find()) {
            return conflict.group(1);
        }
        int from = 0;
        while (from < bare.length()) {
            String rest = bare.substring(from).strip();
            if (TRIGGER.matcher(rest).matches()) {
                return null;
            }
            String word = firstWord(rest);
            if (WORDS.contains(word) && !TO_SAVEPOINT.matcher(rest).matches()) {
                return word;
            }
            if (OUTLIVES.matcher(rest).matches()) {
                return word;
            }
            int end = bare.indexOf(';', from);
            from = end < 0 ? bare.length() : end + 1;
        }
        return null;
    }

    private static String firstWord(String text) {
        int end = 0;
        while (end < text.length() && Character.isLetter(text.charAt(end))) {
            end++;
        }
        return text.substring(0, end);
    }

    /** Removes comments and quoted text. */
    private static String bare(String sql) {
        StringBuilder out = new StringBuilder(sql.length());
        int at = 0;
        while (at < sql.length()) {
            int end = endOfHidden(sql, at);
            if (end > at) {
                out.append(' ');
                at = end;
            } else {
                out.append(sql.charAt(at++));
            }
        }
        return out.toString();
    }

    /** Returns the position after the comment or quote that begins at {@code at}, or {@code at} if none does. */
    private static int endOfHidden(String sql, int at) {
        char c = sql.charAt(at);
        if (sql.startsWith("--", at)) {
            return behind(sql, "\n", at + 2);
        }
        if (sql.startsWith("/*", at)) {
            return behind(sql, "*/", at + 2);
        }
        if (c == '\'' || c == '"' || c == '`') {
            return behind(sql, String.valueOf(c), at + 1);
        }
        if (c == '$') {
            // PostgreSQL's dollar quotes: $$ … $$ or $tag$ … $tag$. A parameter such as $1 is not one.
            int end = sql.indexOf('$', at + 1);
            boolean quotes = end > 0 && sql.substring(at + 1, end).chars().allMatch(Character::isUnicodeIdentifierPart);
            return quotes ? behind(sql, sql.substring(at, end + 1), end + 1) : at;
        }
        return at;
    }

    private static int behind(String sql, String what, int from) {
        int found = sql.indexOf(what, from);
        return found < 0 ? sql.length() : found + what.length();
    }
}
