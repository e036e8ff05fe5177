package dev.semel.trials.architecture;

/**
 * One violation of a style rule.
 *
 * @param check the name of the rule
 * @param subject what an exception would name: a path, {@code path#method}, or a type
 * @param place where to look
 * @param message what is wrong and what to do instead
 */
record StyleFinding(String check, String subject, String place, String message) {
    static StyleFinding in(String check, SourceFile file, int line, String message) {
        return new StyleFinding(check, file.path(), file.path() + ":" + line, message);
    }

    /** How {@link StyleExceptions} names it. */
    String key() {
        return check + " " + subject;
    }

    @Override
    public String toString() {
        return place + ": " + message + " [" + check + "]";
    }
}
