package dev.semel.schedule;

/** A syntax error in a cron expression, with its position. */
public final class CronProblem extends IllegalArgumentException {
    private final int at;
    private final int length;

    CronProblem(String message, int at, int length) {
        super(message);
        this.at = at;
        this.length = length;
    }

    /** Offset of the wrong part, from 0. */
    public int at() {
        return at;
    }

    public int length() {
        return length;
    }
}
