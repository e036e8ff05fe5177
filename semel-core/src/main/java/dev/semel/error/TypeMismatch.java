package dev.semel.error;

/**
 * A value cannot be written as JSON, or a recorded one cannot be read as the type that the code asks for. Trying again
 * does not help.
 */
public final class TypeMismatch extends SemelException {
    public TypeMismatch(String detail, String fix) {
        super(ErrorCode.TYPE_MISMATCH, detail, fix);
    }
}
