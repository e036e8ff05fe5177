package dev.semel.error;

/**
 * A value cannot be written as JSON, or a recorded one cannot be read as the type that the code asks for. Trying again
 * does not help. Thrown out of the code of a step or effect it means that the work <em>was</em> done and only its
 * result cannot be recorded, so it must not be done again.
 */
public final class TypeMismatch extends SemelException {
    public TypeMismatch(String detail, String fix) {
        super(ErrorCode.TYPE_MISMATCH, detail, fix);
    }
}
