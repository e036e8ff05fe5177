package dev.semel.server.cli;

import java.util.regex.Pattern;

/** Words for a suggested command: what is pasted must mean what it says, whatever a key contains. */
final class Shell {
    private static final Pattern BARE = Pattern.compile("[A-Za-z0-9_./:@%+=,-]+");

    private Shell() {}

    static String word(String text) {
        return BARE.matcher(text).matches() && !text.startsWith("-") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
