package dev.semel.store;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a statement can feel of another transaction, and be felt of. Under READ COMMITTED that is little: another
 * transaction's rows come into sight with its COMMIT only, and before that there are only its locks. So two statements
 * that lock nothing in a common table may change places, and a COMMIT may pass every statement that looks at none of
 * the tables which its transaction locked. Tables stand for their rows here, which errs on the safe side.
 */
record StatementFootprint(String sql, boolean ends, Set<String> touches, Set<String> locks) {
    private static final Pattern TABLE = Pattern.compile("\\b(semel_[a-z_]+|mine)\\b");
    private static final Pattern LOCKS = Pattern.compile("\\b(INSERT|UPDATE|DELETE|FOR SHARE|FOR KEY SHARE|LOCK)\\b");

    static final String COMMIT = "COMMIT";
    static final String ROLLBACK = "ROLLBACK";

    /** @param locked the tables in which the transaction holds locks so far */
    static StatementFootprint of(String sql, Set<String> locked) {
        String text = sql.strip();
        if (text.equals(COMMIT) || text.equals(ROLLBACK)) {
            return new StatementFootprint(text, true, new HashSet<>(locked), new HashSet<>(locked));
        }
        Set<String> tables = new TreeSet<>();
        Matcher matcher = TABLE.matcher(text);
        while (matcher.find()) {
            tables.add(matcher.group(1));
        }
        boolean lock = LOCKS.matcher(text.toUpperCase(Locale.ROOT)).find();
        return new StatementFootprint(text, false, tables, lock ? tables : Set.of());
    }

    /** Whether it matters which of the two comes first. */
    boolean meets(StatementFootprint other) {
        if (ends && other.ends) {
            return false;
        }
        if (ends || other.ends) {
            return shares(ends ? locks : touches, ends ? other.touches : other.locks);
        }
        return shares(locks, other.locks);
    }

    private static boolean shares(Set<String> some, Set<String> others) {
        return some.stream().anyMatch(others::contains);
    }

    /** A line for people. */
    String line() {
        String flat = sql.replaceAll("\\s+", " ");
        return flat.length() <= 70 ? flat : flat.substring(0, 69) + "…";
    }
}
