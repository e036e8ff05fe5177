package dev.semel.error;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Base class of all errors that Semel reports to callers, with an error code, a detail text and a fix.
 * {@code detail} says what failed, which one, and the state now; {@code fix} says what to do. {@code members} are
 * machine-readable facts and never contain payload values. Subclasses exist for errors that code may want to catch.
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

    /** Adds a member to the problem document, for example `run_id`: a string, number, boolean, list or map. */
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

    /** The members in insertion order, so that problem documents are stable. */
    public final Map<String, Object> members() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(members));
    }
}
