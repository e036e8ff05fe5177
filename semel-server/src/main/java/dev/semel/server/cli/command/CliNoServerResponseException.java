package dev.semel.server.cli.command;

/** {@code sent} is false if the request certainly never left, true if the server may have acted on it. */
public final class CliNoServerResponseException extends Exception {
    private final boolean maybeSent;

    public CliNoServerResponseException(boolean sent, String why) {
        super(why, null, false, false);
        this.maybeSent = sent;
    }

    public boolean maybeSent() {
        return maybeSent;
    }

    public String reason() {
        return String.valueOf(getMessage());
    }
}
