package dev.semel.server.cli;

/**
 * Thrown if no HTTP response arrived. {@code sent} is false if the request certainly never left, true if the server
 * may have acted on it.
 */
final class NoResponseException extends Exception {
    private final boolean maybeSent;

    NoResponseException(boolean sent, String why) {
        super(why, null, false, false);
        this.maybeSent = sent;
    }

    boolean maybeSent() {
        return maybeSent;
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
