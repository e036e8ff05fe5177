package dev.semel.store.jdbc;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds statements that begin or end transactions, or outlive them, in the SQL of a tx step. It is there for mistakes, not for malice: it
 * knows quotes and comments, and looks at the first words of every statement.
 */
final class TransactionWords {
    private static final Set<String> WORDS = Set.of(
            "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "ATTACH", "DETACH", "VACUUM", "DISCARD", "RESET");

    /** The next step of somebody else has the same session: a setting that is not local would be there too. */
    private static final Pattern OUTLIVES =
            Pattern.compile("(SET(?!\\s+(LOCAL|CONSTRAINTS)\\b)|PREPARE\\s+TRANSACTION)\\b.*", Pattern.DOTALL);

    /** A trigger's body is full of semicolons and of words such as BEGIN. */
    private static final Pattern TRIGGER = Pattern.compile("CREATE\\s+(\\w+\\s+)?TRIGGER\\b.*", Pattern.DOTALL);

    private static final Pattern TO_SAVEPOINT =
            Pattern.compile("ROLLBACK\\s+((TRANSACTION|WORK)\\s+)?TO\\b.*", Pattern.DOTALL);

    /** SQLite ends the whole transaction on a conflict, and what came next would commit by itself. */
    private static final Pattern ON_CONFLICT =
            Pattern.compile("\\b(OR\\s+ROLLBACK|CONFLICT\\s+ROLLBACK|RAISE\\s*\\(\\s*ROLLBACK)\\b");

    private TransactionWords() {}

    /** The first such word, or null. */
    static @Nullable String in(String sql) {
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

    /** Without comments and without what is quoted. */
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

    /** Behind the comment or quote that begins there; the same place where none does. */
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
            // PostgreSQL's quotes around code: $$ … $$ or $tag$ … $tag$; a parameter such as $1 is none.
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
