package dev.semel.server.files.steps.effects;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One SQL statement with `:name` parameters, converted for JDBC.
 *
 * <p>Text in quotes or comments and PostgreSQL's `::type` stay unchanged.
 *
 * @param jdbc the statement with `?` for each parameter
 * @param names parameter names, in order
 */
record NamedParameterSql(String jdbc, List<String> names) {
    private static final Pattern PART = Pattern.compile(
            "'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|--[^\\n]*+|/\\*(?s:.*?)\\*/|::|:([A-Za-z_][A-Za-z0-9_]*)|[;?]");
    private static final Pattern UNUSUAL =
            Pattern.compile("(?i)\\b[EUBX]&?'|\\bU&\"|\\$[A-Za-z_0-9]*\\$|/\\*|--|query_to_xml|\\bexecute\\b");
    private static final Pattern FIRST_WORD = Pattern.compile("\\s*([A-Za-z]+)");
    private static final Pattern OURS = Pattern.compile("\\bsemel_", Pattern.CASE_INSENSITIVE);
    private static final Set<String> STATEMENTS = Set.of("insert", "update", "delete", "select", "with", "merge");

    /** Both databases commit these together with the record of the step. Triggers and views would run later. */
    private static final Pattern DEFINITION = Pattern.compile(
            "(?i)\\s*(?:create\\s+table|create\\s+(?:unique\\s+)?index|alter\\s+table)\\b.*", Pattern.DOTALL);

    private static final Pattern CONCURRENTLY = Pattern.compile("(?i)\\bconcurrently\\b");

    NamedParameterSql {
        names = List.copyOf(names);
    }

    static NamedParameterSql parse(String sql) {
        List<String> names = new ArrayList<>();
        Matcher part = PART.matcher(sql);
        var jdbc = new StringBuilder();
        while (part.find()) {
            if (part.group(1) != null) {
                names.add(part.group(1));
                part.appendReplacement(jdbc, "?");
            } else {
                part.appendReplacement(jdbc, Matcher.quoteReplacement(part.group()));
            }
        }
        part.appendTail(jdbc);
        return new NamedParameterSql(jdbc.toString(), names);
    }

    /** Whether it creates or changes a table or an index, and no rows. */
    boolean isDefinition() {
        return DEFINITION.matcher(jdbc).matches();
    }

    /** Why a file must not run this statement; null if it may. */
    static @Nullable String findProblem(String sql) {
        Matcher first = FIRST_WORD.matcher(sql);
        boolean defines = DEFINITION.matcher(sql).matches();
        if (!defines
                && (!first.lookingAt() || !STATEMENTS.contains(first.group(1).toLowerCase(java.util.Locale.ROOT)))) {
            return "tx.sql must be one insert, update, delete, merge or select, or one create table, create index or"
                    + " alter table.";
        }
        if (defines
                && (!parse(sql).names().isEmpty() || CONCURRENTLY.matcher(sql).find())) {
            return "tx.sql must not have parameters or `concurrently` in create table, create index and alter table.";
        }
        if (UNUSUAL.matcher(sql).find()) {
            return "tx.sql must not contain E'…', U&'…', $…$ or comments; they could hide a second statement.";
        }
        Matcher part = PART.matcher(sql.stripTrailing());
        while (part.find()) {
            if (part.group().equals(";")) {
                return "tx.sql must be one statement, without a semicolon.";
            }
            if (part.group().equals("?")) {
                return "tx.sql needs named parameters, as in :payment; ? is not supported.";
            }
        }
        return OURS.matcher(sql).find()
                ? "tx.sql must not use tables that begin with semel_; they are Semel's own."
                : null;
    }
}
