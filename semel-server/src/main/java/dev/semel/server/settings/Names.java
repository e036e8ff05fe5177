package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.regex.Pattern;

/** What things may be called. */
public final class Names {
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}");
    private static final int LONGEST_ID = 200;

    private Names() {}

    public static boolean fits(String name) {
        return NAME.matcher(name).matches();
    }

    /** The name of a secret, template, channel, route or cohort, or a topic that one can unsubscribe from. */
    public static String checked(String what, String name) {
        if (!fits(name)) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The name of a " + what
                            + " is 1 to 64 letters, digits, dots, _ and -, beginning with a letter, and this"
                            + " is not one. Nothing was changed.",
                    "Choose another name.");
        }
        return name;
    }

    /** The id of a profile: whatever the caller's own system calls a person. */
    public static String profile(String id) {
        if (id.isEmpty() || id.length() > LONGEST_ID || id.codePoints().anyMatch(Names::isUnfit)) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The id of a profile has 1 to " + LONGEST_ID + " printable characters, and this one has not."
                            + " Nothing was changed.",
                    "Use the id that your own system has for that person.");
        }
        return id;
    }

    private static boolean isUnfit(int point) {
        return Character.isISOControl(point) || Character.getType(point) == Character.SURROGATE;
    }
}
