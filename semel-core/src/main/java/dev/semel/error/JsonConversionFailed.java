package dev.semel.error;

/**
 * Thrown when a value cannot be written as JSON, or a recorded value cannot be read as the requested Java type.
 * A retry does not help.
 */
public final class JsonConversionFailed extends SemelException {
    public JsonConversionFailed(String detail, String fix) {
        super(ErrorCode.TYPE_MISMATCH, detail, fix);
    }
}
