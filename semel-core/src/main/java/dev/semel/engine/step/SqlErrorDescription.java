package dev.semel.engine.step;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Describes an error of a database without its text, which contains values: "Key (email)=(ada@…) already exists". */
final class SqlErrorDescription {
    private static final int MOST_NAMES = 4;

    /** What PostgreSQL quotes behind these words is a name of the schema. */
    private static final Pattern POSTGRES_NAME =
            Pattern.compile("\\b(constraint|relation|table|column) \"([A-Za-z_][\\w$.]{0,62})\"");

    /** SQLite names the kind of constraint and the columns. */
    private static final Pattern SQLITE_NAME =
            Pattern.compile("\\b((?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint) failed(?:: ([\\w$., ]{1,120}))?");

    private SqlErrorDescription() {}

    static String of(SQLException failure) {
        String text = String.valueOf(failure.getMessage());
        List<String> names = new ArrayList<>();
        Matcher postgres = POSTGRES_NAME.matcher(text);
        while (postgres.find() && names.size() < MOST_NAMES) {
            names.add(postgres.group(1) + " " + postgres.group(2));
        }
        Matcher sqlite = SQLITE_NAME.matcher(text);
        if (names.isEmpty() && sqlite.find()) {
            names.add(sqlite.group(1)
                    + (sqlite.group(2) == null ? "" : " " + sqlite.group(2).strip()));
        }
        String state = failure.getSQLState();
        String code = state == null || state.isEmpty() ? "error code " + failure.getErrorCode() : "SQL state " + state;
        return "The database rejected the statement (" + code
                + (names.isEmpty() ? "" : ": " + String.join(", ", names))
                + "). The text of the database is not recorded, because it may contain values.";
    }
}
