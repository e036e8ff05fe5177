package dev.semel.definition;

import dev.semel.error.JsonConversionFailed;

/**
 * The effect happened, but its result cannot be recorded: the step fails with `result-not-recordable`, the effect counts
 * as sent, and Semel does not repeat it. Throw this only if it is certain; any other problem with a response leaves the
 * outcome unknown.
 */
public final class ResultNotRecordable extends RuntimeException {
    private final JsonConversionFailed why;

    public ResultNotRecordable(JsonConversionFailed why) {
        super(why.getMessage(), why);
        this.why = why;
    }

    public JsonConversionFailed why() {
        return why;
    }
}
