package dev.semel.schedule;

public final class CronSyntaxException extends IllegalArgumentException {
    private final int offset;
    private final int length;

    CronSyntaxException(String message, int at, int length) {
        super(message);
        this.offset = at;
        this.length = length;
    }

    /** Offset of the wrong part, from 0. */
    public int offset() {
        return offset;
    }

    public int length() {
        return length;
    }
}
