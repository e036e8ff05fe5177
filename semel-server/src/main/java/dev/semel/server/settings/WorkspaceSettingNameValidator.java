package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.regex.Pattern;

public final class WorkspaceSettingNameValidator {
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}");
    private static final int LONGEST_ID = 200;

    private WorkspaceSettingNameValidator() {}

    public static boolean isValid(String name) {
        return NAME.matcher(name).matches();
    }

    /** Returns a valid name of a secret, template, channel, route, cohort or topic, or throws. */
    public static String requireValid(String what, String name) {
        if (!isValid(name)) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The name of the " + what
                            + " must have 1 to 64 letters, digits, dots, _ and -, and start with a"
                            + " letter. Nothing was changed.",
                    "Choose another name.");
        }
        return name;
    }

    /** Returns a valid profile id, which the caller's own system assigns, or throws. */
    public static String requireValidProfileId(String id) {
        if (id.isEmpty()
                || id.length() > LONGEST_ID
                || id.codePoints().anyMatch(WorkspaceSettingNameValidator::isInvalid)) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The profile id must have 1 to " + LONGEST_ID + " printable characters. Nothing was changed.",
                    "Use the id that your own system has for that recipient.");
        }
        return id;
    }

    private static boolean isInvalid(int point) {
        return Character.isISOControl(point) || Character.getType(point) == Character.SURROGATE;
    }
}
