package dev.semel.server.doors;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How many runs stand between a request and whoever began: a step of a run says so with each request that it sends, so that
 * workflows that start each other, by triggers, events or webhooks, come to an end.
 */
public final class Depth {
    public static final String HEADER = "Semel-Depth";
    public static final int USUAL = 16;

    private static final Pattern FORM = Pattern.compile("[0-9]{1,6}");

    private Depth() {}

    /** What a request says; 0 where it comes from no run. */
    public static int of(@Nullable String header) {
        if (header == null) {
            return 0;
        }
        if (!FORM.matcher(header.strip()).matches()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The header " + HEADER + " is not a whole number. Nothing was started.",
                    "Leave it out; only steps of runs send it.");
        }
        return Integer.parseInt(header.strip());
    }

    /** Held only against what would start a run: a repeat starts nothing. */
    public static void refuse(int depth, int most, String workflow) {
        if (depth > most) {
            throw new SemelException(
                    ErrorCode.TRIGGERED_TOO_DEEP,
                    "Workflow \"" + workflow + "\" would be started by a chain of " + depth
                            + " runs that started each other, and " + most + " are allowed. No run was started.",
                    "Look for workflows that start each other in a circle; if the chain is meant, start the server with"
                            + " a larger --max-depth.");
        }
    }
}
