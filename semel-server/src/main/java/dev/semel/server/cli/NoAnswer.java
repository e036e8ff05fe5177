package dev.semel.server.cli;

/** No answer came. {@code sent} tells a request that certainly never left from one that may have been acted on. */
final class NoAnswer extends Exception {
    private final boolean sent;

    NoAnswer(boolean sent, String why) {
        super(why, null, false, false);
        this.sent = sent;
    }

    boolean sent() {
        return sent;
    }

    String why() {
        return String.valueOf(getMessage());
    }
}
