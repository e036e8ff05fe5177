package dev.semel.error;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A refusal in four parts: what failed and which one ({@code detail}), what state things are in now (also in
 * {@code detail}), and what to do ({@code fix}). {@code members} are extra facts for machines; never a payload value.
 * The kinds that code may want to catch by themselves are subclasses beside it.
 */
public class SemelException extends RuntimeException {
    private final ErrorCode code;
    private final String detail;
    private final String fix;
    private final Map<String, Object> members = new LinkedHashMap<>();

    public SemelException(ErrorCode code, String detail, String fix) {
        super(message(code, detail, fix));
        this.code = code;
        this.detail = detail;
        this.fix = fix;
    }

    public SemelException(ErrorCode code, String detail, String fix, Throwable cause) {
        super(message(code, detail, fix), cause);
        this.code = code;
        this.detail = detail;
        this.fix = fix;
    }

    private static String message(ErrorCode code, String detail, String fix) {
        return detail + " " + fix + " [" + code.slug() + "]";
    }

    /** Adds a member that the problem document shows, e.g. `run_id`. Values: strings, numbers, booleans, lists, maps. */
    public final SemelException with(String member, Object value) {
        members.put(member, value);
        return this;
    }

    public final ErrorCode code() {
        return code;
    }

    public final String detail() {
        return detail;
    }

    public final String fix() {
        return fix;
    }

    /** In the order they were added, so that a problem document reads the same every time. */
    public final Map<String, Object> members() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(members));
    }
}
