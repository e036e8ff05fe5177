package dev.semel.server.cli;

/** {@code sent} is false if the request certainly never left, true if the server may have acted on it. */
final class CliNoServerResponseException extends Exception {
    private final boolean maybeSent;

    CliNoServerResponseException(boolean sent, String why) {
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
