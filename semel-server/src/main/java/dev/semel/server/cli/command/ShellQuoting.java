package dev.semel.server.cli.command;

import java.util.regex.Pattern;

/** Quotes words for suggested shell commands, so that a pasted command is safe whatever a key contains. */
public final class ShellQuoting {
    private static final Pattern BARE = Pattern.compile("[A-Za-z0-9_./:@%+=,-]+");

    private ShellQuoting() {}

    public static String quote(String text) {
        return BARE.matcher(text).matches() && !text.startsWith("-") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
