package dev.semel.server.connectors.ingress;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Limits chains of runs that start each other. Steps send the current depth in a header with each request, so that
 * cycles of triggers, events or webhooks stop.
 */
public final class RunTriggerChainDepthLimit {
    public static final String HEADER = "Semel-Depth";
    public static final int USUAL = 16;

    private static final Pattern FORM = Pattern.compile("[0-9]{1,6}");

    private RunTriggerChainDepthLimit() {}

    /** Parses the header; 0 if no run sent the request. */
    public static int parse(@Nullable String header) {
        if (header == null) {
            return 0;
        }
        if (!FORM.matcher(header.strip()).matches()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The header " + HEADER + " is not a whole number. No run was started.",
                    "Remove the header; only Semel sets it, in requests from steps.");
        }
        return Integer.parseInt(header.strip());
    }

    /** Rejects a fresh run above the limit; a repeat starts nothing and is not checked. */
    public static void rejectIfTooDeep(int depth, int most, String workflow) {
        if (depth > most) {
            throw new SemelException(
                    ErrorCode.TRIGGERED_TOO_DEEP,
                    "Workflow \"" + workflow + "\" would be started by a chain of " + depth
                            + " runs, each started by the previous one, but at most " + most
                            + " are allowed. No run was started.",
                    "Look for workflows that start each other in a cycle. If the chain is intended, start the"
                            + " server with"
                            + " a larger --max-depth.");
        }
    }
}
