package dev.semel.server.cli;

/**
 * Thrown if no HTTP response arrived. {@code sent} is false if the request certainly never left, true if the server
 * may have acted on it.
 */
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
