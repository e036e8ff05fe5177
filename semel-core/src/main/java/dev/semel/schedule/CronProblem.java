package dev.semel.schedule;

/** What is wrong with a cron text, and where in it. */
public final class CronProblem extends IllegalArgumentException {
    private final int at;
    private final int length;

    CronProblem(String message, int at, int length) {
        super(message);
        this.at = at;
        this.length = length;
    }

    /** The place of the part that is wrong, counted from 0. */
    public int at() {
        return at;
    }

    public int length() {
        return length;
    }
}
