package dev.semel.schedule;

import java.util.List;
import java.util.Locale;

/**
 * @param any {@code *} or {@code ?}: every value matches
 * @param steps written with a step, so that it means intervals and not fixed values
 * @param last the last day of the month; for days of the week, {@code lastOf} has the weekdays whose last one matches
 */
record CronField(long values, boolean any, boolean steps, boolean last, long lastOf) {
    enum CronFieldKind {
        SECOND("second", 0, 59, List.of()),
        MINUTE("minute", 0, 59, List.of()),
        HOUR("hour", 0, 23, List.of()),
        DAY("day of the month", 1, 31, List.of()),
        MONTH(
                "month",
                1,
                12,
                List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")),
        WEEKDAY("day of the week", 0, 7, List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"));

        final String title;
        final int least;
        final int most;
        final List<String> names;

        CronFieldKind(String title, int least, int most, List<String> names) {
            this.title = title;
            this.least = least;
            this.most = most;
            this.names = names;
        }
    }

    boolean has(int value) {
        return (values & 1L << value) != 0;
    }

    /** The first value that is not below this one, which is at most 60; -1 for none. */
    int from(int value) {
        long left = values & -1L << value;
        return left == 0 ? -1 : Long.numberOfTrailingZeros(left);
    }

    int first() {
        return from(0);
    }

    /** @param at where the field starts in the whole text */
    static CronField read(CronFieldKind kind, String text, int at) {
        return new Parser(kind, text, at).read();
    }

    private static final class Parser {
        private final CronFieldKind kind;
        private final String text;
        private final int at;
        private long values;
        private boolean last;
        private long lastOf;

        Parser(CronFieldKind kind, String text, int at) {
            this.kind = kind;
            this.text = text;
            this.at = at;
        }

        CronField read() {
            boolean day = kind == CronFieldKind.DAY || kind == CronFieldKind.WEEKDAY;
            boolean any = text.equals("*") || (day && text.equals("?"));
            if (any) {
                range(kind.least, kind.most, 1);
            } else {
                int from = 0;
                while (from <= text.length()) {
                    int comma = text.indexOf(',', from);
                    int to = comma < 0 ? text.length() : comma;
                    part(text.substring(from, to), at + from);
                    from = to + 1;
                }
            }
            if (kind == CronFieldKind.WEEKDAY && (values & 1L << 7) != 0) {
                values = (values | 1) & ~(1L << 7); // Sunday is 0 and 7
            }
            return new CronField(values, any, text.contains("/"), last, lastOf);
        }

        private void part(String part, int place) {
            if (part.isEmpty()) {
                throw bad("between two commas is empty", place, part);
            }
            if (kind == CronFieldKind.DAY && part.equalsIgnoreCase("L")) {
                last = true;
                return;
            }
            if (kind == CronFieldKind.WEEKDAY
                    && part.length() > 1
                    && part.toUpperCase(Locale.ROOT).endsWith("L")) {
                int weekday = value(part.substring(0, part.length() - 1), place) % 7;
                lastOf |= 1L << weekday;
                return;
            }
            int slash = part.indexOf('/');
            String range = slash < 0 ? part : part.substring(0, slash);
            int step = slash < 0 ? 1 : step(part.substring(slash + 1), place + slash + 1);
            int dash = range.indexOf('-');
            if (range.equals("*")) {
                range(kind.least, kind == CronFieldKind.WEEKDAY ? 6 : kind.most, step);
            } else if (dash >= 0) {
                int from = value(range.substring(0, dash), place);
                int to = value(range.substring(dash + 1), place + dash + 1);
                if (to < from) {
                    throw bad("ends before it starts; write two ranges with a comma, such as 22-23,0-5", place, part);
                }
                range(from, to, step);
            } else {
                int from = value(range, place);
                range(from, slash < 0 ? from : kind == CronFieldKind.WEEKDAY ? 6 : kind.most, step);
            }
        }

        private void range(int from, int to, int step) {
            for (int value = from; value <= to; value += step) {
                values |= 1L << value;
            }
        }

        private int step(String digits, int place) {
            int step = number(digits, place);
            if (step < 1 || step > kind.most) {
                throw bad("has a step outside 1 to " + kind.most, place, digits);
            }
            return step;
        }

        private int value(String word, int place) {
            int named = kind.names.indexOf(word.toUpperCase(Locale.ROOT));
            if (named >= 0) {
                return named + kind.least;
            }
            int value = number(word, place);
            if (value < kind.least || value > kind.most) {
                throw bad("is outside " + kind.least + " to " + kind.most, place, word);
            }
            return value;
        }

        private int number(String digits, int place) {
            boolean plain =
                    !digits.isEmpty() && digits.length() <= 4 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
            if (!plain) {
                String names = kind.names.isEmpty() ? "" : " or a name such as " + kind.names.get(1);
                throw bad("is not a number" + names, place, digits);
            }
            return Integer.parseInt(digits);
        }

        private CronSyntaxException bad(String what, int place, String part) {
            String shown = part.isEmpty() ? "a part" : "\"" + part + "\"";
            return new CronSyntaxException(
                    "The " + kind.title + " field of the cron expression is wrong: " + shown + " " + what + ".",
                    place,
                    Math.max(1, part.length()));
        }
    }
}
